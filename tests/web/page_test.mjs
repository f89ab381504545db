// SPDX-License-Identifier: Apache-2.0
//
// The HTML report in a browser: it says nothing on the console and loads nothing, its charts have
// pixels, and sorting, filtering, zooming, panning and hovering do what they should.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdirSync, rmSync} from "node:fs";
import {join, resolve} from "node:path";
import {parseArgs} from "node:util";
import {browser} from "./webdriver.mjs";

const text = {type: "string"};
const {values: options} = parseArgs({options: {vlag: text, "large-page": text, recording: text, workload: text,
  chromium: text, driver: text, out: text}});
const out = resolve(options.out);
rmSync(out, {recursive: true, force: true});
mkdirSync(out, {recursive: true});
const small = join(out, "6.1-dspin.html");
const large = join(out, "large.html");
execFileSync(options.vlag, ["replay", `${options.recording}.trace.xz`, "--attrs", `${options.recording}.json`,
  "--policy", "linux-6.1", "--policy", "linux-6.12", "--policy", "linux-6.12,frame.slice=0.1ms",
  "--quiet", "--html", small], {stdio: ["ignore", "ignore", "inherit"]});
// A workload file: no recording, and in the second page nothing to compare.
const workload = join(out, "workload.html");
const alone = join(out, "alone.html");
for (const [page, policies] of [[workload, ["--policy", "linux-6.1", "--policy", "linux-6.12"]], [alone, []]]) {
  execFileSync(options.vlag, ["run", options.workload, ...policies, "--quiet", "--html", page],
    {stdio: ["ignore", "ignore", "inherit"]});
}
execFileSync(options["large-page"], [large], {stdio: ["ignore", "inherit", "inherit"]});

const tests = [];
const test = (name, work) => tests.push({name, work});

// ---- what the page is asked ----

// How many pixels of a canvas have that colour (#rrggbb), within 2 a channel.
const pixelsOf = (css, colour) => {
  const canvas = document.querySelector(css);
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  let found = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] > 250 && Math.abs(data[i] - r) < 3 && Math.abs(data[i + 1] - g) < 3 && Math.abs(data[i + 2] - b) < 3) ++found;
  }
  return found;
};
const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const column = (index) => [...document.querySelectorAll("#task-table tbody tr")]
  .map((row) => row.children[index].firstChild.textContent.replace(/[^0-9.]/g, ""))
  .map((cell) => cell === "" ? -1 : Number(cell));
const viewSpan = () => timeline.view.to - timeline.view.from;
const names = () => [...document.querySelectorAll("#task-table tbody button.name")].map((b) => b.textContent);

// The middle of a lane's first CPU on the screen, part of the plot's width from the left.
const lanePoint = (index, part) => {
  const canvas = document.getElementById("timeline");
  canvas.scrollIntoView({block: "center"});
  const r = canvas.getBoundingClientRect();
  const block = timeline.blocks()[index];
  return [r.left + 56 + (r.width - 56) * part, r.top + block.top + block.lane / 2];
};

// Texts whose contrast is too low for WCAG AA, with it.
const lowContrast = () => {
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const paper = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const c = channels(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const found = [];
  let looked = 0;
  for (const e of document.body.querySelectorAll("*")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim() !== "");
    if (!own || e.closest("script,[hidden],.visually-hidden,button:disabled") || e.getClientRects().length === 0) continue;
    ++looked;
    const [a, b] = [light(channels(getComputedStyle(e).color)), light(paper(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(getComputedStyle(e).fontSize) >= 24;
    if (ratio < (large ? 3 : 4.5)) found.push(`${e.tagName}.${e.className} "${e.textContent.slice(0, 20)}" ${ratio.toFixed(2)}`);
  }
  return looked < 50 ? [`only ${looked} texts found`] : found;
};

// Controls that say nothing to a screen reader.
const nameless = () => [...document.querySelectorAll("button, select, input, canvas#timeline, [role=img], [role=region]")]
  .filter((e) => !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() ||
    (e.labels && e.labels.length > 0))).map((e) => e.outerHTML.slice(0, 80));

async function openPage(b, page, width = 1200, height = 900, colours = "light") {
  await b.resize(width, height);
  await b.colours(colours);
  await b.open(`file://${page}`);
  await b.waitFor(() => document.documentElement.dataset.ready === "true", "the page to be ready");
  await b.settle();
}

async function silent(b) {
  // These tests read canvases back, on which the browser has advice.
  const messages = (await b.log()).map((entry) => entry.message).filter((m) => !m.includes("willReadFrequently"));
  assert.deepEqual(messages, []);
}

// ---- tests ----

test("charts have pixels of every run and of the busiest tasks", async (b) => {
  await openPage(b, small);
  for (const name of ["--task0", "--task1", "--wait"]) {
    const found = await b.run(pixelsOf, "#timeline", await b.run(colourOf, name));
    assert.ok(found > 500, `${name} has ${found} pixels in the timeline`);
  }
  for (const name of ["--run0", "--run1", "--run2", "--run3"]) {
    const found = await b.run(pixelsOf, "#cdf canvas", await b.run(colourOf, name));
    assert.ok(found > 50, `${name} has ${found} pixels in the distribution`);
  }
  assert.equal(await b.run(pixelsOf, "#timeline", "#ff00ff"), 0);
  await b.screenshot(join(out, "light.png"));
});

test("summary has a sentence, a verdict and five numbers", async (b) => {
  assert.match(await b.run(() => document.getElementById("sentence").textContent), /^What changed most: .*frame/);
  assert.match(await b.run(() => document.getElementById("trust").textContent), /Self-check: \d+ of \d+ figures/);
  assert.equal(await b.run(() => document.querySelectorAll("#cards .now").length), 5);
  assert.match(await b.run(() => document.getElementById("command").textContent), /^vlag replay .*--policy=linux-6\.12/);
});

test("a workload has a page without a recording", async (b) => {
  const textOf = (id) => b.run((i) => document.getElementById(i).textContent, id);
  await openPage(b, workload);
  assert.equal(await textOf("brand"), "vlag run");
  assert.equal(await textOf("title"), "periodic.json");
  assert.match(await textOf("subtitle"), /1 CPU · 3 tasks · workload file$/);
  assert.match(await textOf("trust"), /^SimulatedMade from a workload file/);
  assert.match(await textOf("sentence"), /^What changed most: .* under linux-6\.12 instead of .* under linux-6\.1:/);
  assert.match(await textOf("settings"), /linux-6\.1linux-6\.12/);
  assert.ok(!(await b.run(() => document.body.textContent.replace(document.getElementById("data").textContent, "")
    .includes("recorded ("))));
  for (const name of ["--task0", "--task1"]) assert.ok(await b.run(pixelsOf, "#timeline", await b.run(colourOf, name)) > 500, name);
  assert.deepEqual(await b.run(lowContrast), []);
  await silent(b);
  await b.screenshot(join(out, "workload.png"));
  await openPage(b, alone);
  assert.match(await textOf("command"), /^vlag run .*periodic\.json/);
  assert.ok(await b.run(pixelsOf, "#timeline", await b.run(colourOf, "--task0")) > 500);
  await silent(b);
  await openPage(b, small);
});

test("other runs can be compared", async (b) => {
  const before = await b.run(() => document.getElementById("cards").textContent);
  await b.run(() => {
    const select = document.getElementById("base");
    select.value = "0";
    select.dispatchEvent(new Event("change"));
  });
  assert.notEqual(await b.run(() => document.getElementById("cards").textContent), before);
  assert.match(await b.run(() => document.getElementById("table-note").textContent), /Small: recorded/);
});

test("hover says why a task ran and why it stopped", async (b) => {
  await b.run(() => timeline.show(0.25e9, 0.3e9));
  await b.settle();
  await b.mouse(await b.run(lanePoint, 2, 0.5));
  const tip = await b.waitFor(() => !document.getElementById("tip").hidden && document.getElementById("tip").textContent, "the tip");
  assert.match(tip, /on CPU 0, linux-6\.12/);
  assert.match(tip, /Why it ran: (woken by|got the CPU back)/);
  assert.match(tip, /Why it stopped: it /);
  assert.match(tip, /eligible|ahead of its share/);
});

test("a click keeps what hover said", async (b) => {
  await b.mouse(await b.run(lanePoint, 2, 0.5), "down", "up");
  assert.match(await b.run(() => document.getElementById("readout").textContent), /Why it ran/);
});

test("buttons, wheel and keys zoom", async (b) => {
  await b.run(() => timeline.show(0, 1e12));
  const whole = await b.run(viewSpan);
  await b.click("#zoom-in");
  assert.ok(Math.abs(await b.run(viewSpan) - whole / 2) < 10);
  await b.click("#zoom-out");
  assert.equal(await b.run(viewSpan), whole);
  await b.wheel(await b.run(lanePoint, 0, 0.25), -400);
  const wheeled = await b.waitFor((span) => timeline.view.to - timeline.view.from < span && timeline.view, "the wheel", whole);
  const middle = (wheeled.from + wheeled.to) / 2;
  assert.ok(middle < whole / 2, "zooming keeps the place under the pointer");
  await b.run(() => document.getElementById("timeline").focus());
  await b.type("#timeline", "+");
  assert.ok(await b.run(viewSpan) < wheeled.to - wheeled.from);
  await b.type("#timeline", "0");
  assert.equal(await b.run(viewSpan), whole);
});

test("zooming redraws: single tasks get their names", async (b) => {
  const hash = () => {
    const canvas = document.getElementById("timeline");
    return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.reduce((h, v) => (h * 31 + v) | 0, 0);
  };
  const before = await b.run(hash);
  await b.run(() => timeline.show(0.25e9, 0.3e9));
  await b.settle();
  assert.notEqual(await b.run(hash), before);
});

test("dragging and arrow keys move", async (b) => {
  await b.run(() => timeline.show(1e9, 2e9));
  await b.settle();
  const [x, y] = await b.run(lanePoint, 0, 0.5);
  await b.mouse([x, y], "down", [x - 100, y], "up");
  const moved = await b.run(() => timeline.view.from);
  assert.ok(moved > 1.05e9 && moved < 1.15e9, `moved to ${moved}`);
  await b.type("#timeline", "\uE012"); // left arrow
  assert.ok(await b.run(() => timeline.view.from) < moved);
});

test("comma and full stop go from one run of a task to the next", async (b) => {
  await b.type("#timeline", ".");
  const first = await b.run(() => document.getElementById("readout").textContent);
  await b.type("#timeline", ".");
  const second = await b.run(() => document.getElementById("readout").textContent);
  assert.match(first, /Why it ran/);
  assert.notEqual(first, second);
  await b.type("#timeline", ",");
  assert.equal(await b.run(() => document.getElementById("readout").textContent), first);
});

test("the longest waits can be gone to", async (b) => {
  await b.run(() => {
    const select = document.getElementById("go-to");
    select.selectedIndex = 1;
    select.dispatchEvent(new Event("change"));
  });
  assert.match(await b.run(() => document.getElementById("readout").textContent), /waited .* for a CPU, recorded/);
  assert.ok(await b.run(viewSpan) < 1e9);
});

test("a column's header sorts, and sorts the other way", async (b) => {
  await b.click("[data-sort=switches]");
  const down = await b.run(column, 2);
  assert.ok(down.length > 3);
  assert.deepEqual(down, [...down].sort((x, y) => y - x));
  assert.equal(await b.run(() => document.querySelector("[data-sort=switches]").parentElement.getAttribute("aria-sort")), "descending");
  await b.click("[data-sort=switches]");
  assert.deepEqual(await b.run(column, 2), [...down].sort((x, y) => x - y));
  await b.click("[data-sort=name]");
  const sorted = await b.run(names);
  assert.deepEqual(sorted, [...sorted].sort((x, y) => x.localeCompare(y, "en", {numeric: true})));
});

test("the filter takes names and pids", async (b) => {
  await b.type("#filter", "fra");
  assert.deepEqual(await b.run(names), ["frame"]);
  await b.type("#filter", "\uE003\uE003\uE003"); // backspace
  await b.click("#by-task");
  await b.type("#filter", "101");
  assert.deepEqual(await b.run(names), ["frame"]);
  await b.type("#filter", "\uE003\uE003\uE003xyz");
  assert.deepEqual(await b.run(names), []);
  assert.match(await b.run(() => document.getElementById("row-count").textContent), /^0 of 15 rows/);
  await b.type("#filter", "\uE003\uE003\uE003");
  await b.click("#by-group");
});

test("a name in the table chooses whose waits are shown", async (b) => {
  await b.run(() => [...document.querySelectorAll("button.name")].find((button) => button.textContent.startsWith("mi")).click());
  assert.match(await b.run(() => document.getElementById("legend").textContent), /waits of mi \(8\)/);
  assert.match(await b.run(() => document.getElementById("cdf").getAttribute("aria-label")), /mi \(8\)/);
});

test("the tail is drawn with a logarithmic axis", async (b) => {
  await b.click("#cdf-tail");
  assert.equal(await b.run(() => document.getElementById("cdf-tail").getAttribute("aria-pressed")), "true");
  const found = await b.run(pixelsOf, "#cdf canvas", await b.run(colourOf, "--run1"));
  assert.ok(found > 50, `${found} pixels`);
  await b.click("#cdf-share");
});

test("texts have the contrast of WCAG AA, controls have names", async (b) => {
  assert.deepEqual(await b.run(lowContrast), []);
  assert.deepEqual(await b.run(nameless), []);
  await silent(b);
});

test("dark colours, by the system's wish and by the button", async (b) => {
  await openPage(b, small, 1200, 900, "dark");
  assert.equal(await b.run(colourOf, "--paper"), "#14181d");
  assert.ok(await b.run(pixelsOf, "#timeline", await b.run(colourOf, "--task0")) > 500);
  assert.deepEqual(await b.run(lowContrast), []);
  await b.screenshot(join(out, "dark.png"));
  await b.click("#theme");
  assert.equal(await b.run(colourOf, "--paper"), "#ffffff");
  await b.settle();
  assert.ok(await b.run(pixelsOf, "#timeline", await b.run(colourOf, "--task0")) > 500);
  await silent(b);
});

test("on a phone nothing is wider than the screen", async (b) => {
  await openPage(b, small, 390, 844);
  assert.equal(await b.run(() => document.documentElement.scrollWidth), 390);
  assert.ok(await b.run(pixelsOf, "#timeline", await b.run(colourOf, "--task0")) > 200);
  assert.ok(await b.run(() => document.querySelector("#cdf canvas").getBoundingClientRect().right) <= 390);
  await b.screenshot(join(out, "phone.png"));
  await silent(b);
});

test("nothing is loaded from anywhere", async (b) => {
  assert.deepEqual(await b.run(() => performance.getEntriesByType("resource").map((e) => e.name)), []);
});

test("5,000 tasks and 10 million switches: paged, and said what is left out", async (b) => {
  await openPage(b, large);
  const ready = await b.run(() => performance.getEntriesByName("vlag-drawn")[0].startTime);
  console.log(`    drawn ${Math.round(ready)} ms after the start`);
  assert.match(await b.run(() => document.getElementById("timeline-note").textContent), /of 9[\s\d]+ single runs are kept/);
  await b.click("#by-task");
  assert.equal(await b.run(() => document.querySelectorAll("#task-table tbody tr").length), 50);
  assert.match(await b.run(() => document.getElementById("page-at").textContent), /^1–50 of 5\s000$/);
  await b.click("#page-on");
  assert.match(await b.run(() => document.getElementById("page-at").textContent), /^51–100 of/);
  await b.type("#filter", "nginx4991");
  assert.deepEqual(await b.run(names), ["nginx4991"]);
  assert.ok(await b.run(pixelsOf, "#timeline", await b.run(colourOf, "--task0")) > 500);
  await b.screenshot(join(out, "large.png"));
});

test("single runs are shown where they are kept, and hover says where not", async (b) => {
  await b.run(() => timeline.show(100e9, 100.002e9));
  await b.settle();
  await b.mouse(await b.run(lanePoint, 0, 0.5));
  assert.match(await b.run(() => document.getElementById("tip").textContent), /Why it ran/);
  await b.run(() => timeline.show(20e9, 21e9));
  await b.settle();
  await b.mouse(await b.run(lanePoint, 0, 0.4));
  assert.match(await b.run(() => document.getElementById("tip").textContent), /No single runs are kept/);
  await silent(b);
});

// ---- running them ----

const b = await browser.start({...options, width: 1200, height: 900});
let failed = 0;
try {
  for (const {name, work} of tests) {
    try {
      await work(b);
      console.log(`ok   ${name}`);
    } catch (error) {
      ++failed;
      console.log(`FAIL ${name}\n${error.stack}`);
      await b.screenshot(join(out, `failed-${failed}.png`), false).catch(() => {});
    }
  }
} finally {
  await b.stop();
}
console.log(`${tests.length - failed} of ${tests.length} tests passed; pictures are in ${out}`);
process.exit(failed === 0 ? 0 : 1);
