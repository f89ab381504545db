// SPDX-License-Identifier: Apache-2.0
//
// A headless Chromium driven over WebDriver's HTTP interface, with nothing but what node brings.
import {spawn} from "node:child_process";
import {mkdtemp, rm, writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";

const elementKey = "element-6066-11e4-a52e-4f735466cecf";
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class browser {
  // Starts the driver on a port that it chooses, and a browser with a profile of its own.
  static async start({driver, chromium, width, height, dark = false}) {
    const result = new browser();
    result.folder = await mkdtemp(join(tmpdir(), "vlag-web-"));
    result.process = spawn(driver, ["--port=0"], {stdio: ["ignore", "pipe", "ignore"]});
    result.base = `http://127.0.0.1:${await result.#port()}`;
    const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--hide-scrollbars", "--force-device-scale-factor=1", `--window-size=${width},${height}`,
      `--user-data-dir=${join(result.folder, "profile")}`];
    if (dark) args.push("--force-dark-mode");
    const {sessionId} = await result.#call("POST", "/session", {
      capabilities: {alwaysMatch: {
        browserName: "chrome", "goog:loggingPrefs": {browser: "ALL"},
        "goog:chromeOptions": {binary: chromium, args},
      }},
    });
    result.base += `/session/${sessionId}`;
    return result;
  }

  // The driver says on which port it listens.
  #port() {
    return new Promise((resolve, reject) => {
      let text = "";
      this.process.stdout.on("data", (piece) => {
        text += piece;
        const port = /successfully on port (\d+)/.exec(text);
        if (port) resolve(port[1]);
      });
      this.process.on("error", reject);
      this.process.on("exit", (code) => reject(new Error(`chromedriver ended with ${code}: ${text}`)));
    });
  }

  async #call(method, path, body) {
    const response = await fetch(this.base + path, {
      method, body: body === undefined ? undefined : JSON.stringify(body),
      headers: {"content-type": "application/json"}, signal: AbortSignal.timeout(60000),
    });
    const {value} = await response.json();
    if (!response.ok) throw new Error(`${path}: ${value.error}: ${value.message}`);
    return value;
  }

  open(url) { return this.#call("POST", "/url", {url}); }

  // Emulates a screen of that size, as a phone has.
  resize(width, height) {
    return this.devtools("Emulation.setDeviceMetricsOverride",
      {width, height, deviceScaleFactor: 1, mobile: width < 600});
  }
  colours(scheme) {
    return this.devtools("Emulation.setEmulatedMedia", {features: [{name: "prefers-color-scheme", value: scheme}]});
  }
  devtools(cmd, params) { return this.#call("POST", "/goog/cdp/execute", {cmd, params}); }

  // Runs a function of the page's own world; arguments and result travel as JSON.
  run(work, ...args) {
    return this.#call("POST", "/execute/sync", {script: `return (${work})(...arguments)`, args});
  }

  async waitFor(work, what, ...args) {
    for (let i = 0; i < 200; ++i) {
      const value = await this.run(work, ...args);
      if (value) return value;
      await pause(50);
    }
    throw new Error(`waited 10 s in vain for ${what}`);
  }

  // One picture of the frame that is drawn next.
  async settle() {
    await this.#call("POST", "/execute/async", {
      script: "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))", args: []});
  }

  async find(css) {
    const found = await this.#call("POST", "/element", {using: "css selector", value: css});
    return found[elementKey];
  }
  async click(css) { await this.#call("POST", `/element/${await this.find(css)}/click`, {}); }
  async type(css, text) { await this.#call("POST", `/element/${await this.find(css)}/value`, {text}); }

  // A mouse that goes to points of the window; "down" and "up" press it there.
  async mouse(...steps) {
    const actions = steps.map((step) => step === "down" || step === "up"
      ? {type: step === "down" ? "pointerDown" : "pointerUp", button: 0}
      : {type: "pointerMove", duration: 30, x: Math.round(step[0]), y: Math.round(step[1])});
    await this.#call("POST", "/actions", {actions: [
      {type: "pointer", id: "mouse", parameters: {pointerType: "mouse"}, actions}]});
  }
  async wheel([x, y], deltaY) {
    await this.#call("POST", "/actions", {actions: [
      {type: "key", id: "keys", actions: [{type: "keyDown", value: "\uE009"}, {type: "pause"}, {type: "keyUp", value: "\uE009"}]},
      {type: "wheel", id: "wheel", actions: [{type: "pause"},
        {type: "scroll", duration: 30, x: Math.round(x), y: Math.round(y), deltaX: 0, deltaY}, {type: "pause"}]}]});
  }

  // What the page logged since the last time: {level, message}.
  log() { return this.#call("POST", "/se/log", {type: "browser"}); }

  // The whole page, or what the window shows.
  async screenshot(file, whole = true) {
    const {data} = await this.devtools("Page.captureScreenshot", {format: "png", captureBeyondViewport: whole,
      ...(whole ? {clip: await this.run(() => ({x: 0, y: 0, width: document.documentElement.clientWidth,
        height: document.documentElement.scrollHeight, scale: 1}))} : {})});
    await writeFile(file, Buffer.from(data, "base64"));
  }

  async stop() {
    await this.#call("DELETE", "").catch(() => {});
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill();
    await ended;
    await rm(this.folder, {recursive: true, force: true, maxRetries: 20, retryDelay: 100});
  }
}
