// SPDX-License-Identifier: Apache-2.0
//
// node bench/page_paint.mjs PAGE…: how long a headless Chromium takes from opening an HTML report to
// its first paint, and until all charts are drawn; the median of five openings, ms. Fails when the
// first paint takes 3 s.
import {resolve} from "node:path";
import {browser} from "../tests/web/webdriver.mjs";

const limitMs = 3000;
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const b = await browser.start({driver: "chromedriver", chromium: "/usr/bin/chromium", width: 1200, height: 900});
let slow = false;
try {
  for (const page of process.argv.slice(2)) {
    const [paints, drawn] = [[], []];
    for (let i = 0; i < 5; ++i) {
      await b.open(`file://${resolve(page)}`);
      const times = await b.waitFor(() => {
        const paint = performance.getEntriesByName("first-contentful-paint")[0];
        const mark = performance.getEntriesByName("vlag-drawn")[0];
        return paint && mark && [paint.startTime, mark.startTime];
      }, "the first paint");
      paints.push(times[0]);
      drawn.push(times[1]);
    }
    slow ||= median(paints) >= limitMs;
    console.log(`page_paint ${page}: first paint ${median(paints).toFixed(0)} ms, all drawn ${median(drawn).toFixed(0)} ms`);
  }
} finally {
  await b.stop();
}
process.exit(slow ? 1 : 0);
