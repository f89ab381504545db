// SPDX-License-Identifier: Apache-2.0
//
// The page's data, how figures are written, and small pieces of the page.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
// Whether the first of the runs is a recording; a workload file has none.
const recorded = data.trace.events !== null;

// What the reader has chosen; parts of the page are told of changes.
// A group of tasks, and when one of them is meant, its pid.
const chosen = {base: data.change.base, run: data.change.run, group: 0, pid: null};
const listeners = [];
function onChange(listener) { listeners.push(listener); }
function choose(changes) {
  if ("group" in changes) changes = {pid: null, ...changes};
  Object.assign(chosen, changes);
  for (const listener of listeners) listener(changes);
}

const byId = (id) => document.getElementById(id);

// An element with text, attributes and children; text is never taken for HTML.
function element(name, attributes = {}, ...children) {
  const result = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) result.setAttribute(key, value);
  }
  result.append(...children.filter((child) => child !== null && child !== undefined));
  return result;
}

function fillSelect(select, entries, value) {
  select.replaceChildren(...entries.map(([key, text]) => element("option", {value: key}, text)));
  select.value = value;
}

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// ---- figures ----

const minus = (text) => text.replace("-", "−");

// Three or four digits that matter, in the unit that suits: [number, unit].
function durationParts(ns) {
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  if (ns === 0) return ["0", "ms"];
  const [size, unit] = units.find(([size]) => Math.abs(ns) >= size * 0.9995) ?? units[3];
  const value = ns / size;
  const digits = unit === "ns" || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return [minus(value.toFixed(digits)), unit];
}
const duration = (ns) => durationParts(ns).join("\u00a0");
// Milliseconds to the microsecond, as the tables of the command.
const ms = (ns) => (ns / 1e6).toFixed(3);
const seconds = (ns, digits = 6) => `${(ns / 1e9).toFixed(digits)} s`;
const percent = (ppm, digits = 1) => (ppm / 1e4).toFixed(digits);
const count = (n) => n.toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

// "−85 %", "×12" from a tenfold on; null where nothing can be said.
function changeText(before, after) {
  if (before === after) return "same";
  if (before === 0 || after === 0) return null;
  const ratio = after / before;
  if (ratio >= 10) return `×${ratio.toFixed(0)}`;
  if (ratio <= 0.1) return `÷${(1 / ratio).toFixed(0)}`;
  const by = Math.round((ratio - 1) * 100);
  if (by === 0) return "same";
  return by > 0 ? `+${by} %` : `−${-by} %`;
}

// ---- rows ----

const taskByPid = new Map(data.tasks.pid.map((pid, index) => [pid, index]));
function taskName(pid) {
  const index = taskByPid.get(pid);
  return index === undefined ? `pid ${pid}` : `${data.tasks.title[index]} (${pid})`;
}
const realtimeTasks = new Set(data.tasks.realtime.map((index) => data.tasks.pid[index]));
const isRealtime = (pid) => realtimeTasks.has(pid);
const groupTitle = (g) =>
  data.groups.tasks[g] > 1 ? `${data.groups.title[g]} (${data.groups.tasks[g]})` : data.groups.title[g];
const chosenTitle = () => chosen.pid === null ? groupTitle(chosen.group) : taskName(chosen.pid);
const chosenPids = () => new Set(chosen.pid !== null ? [chosen.pid]
  : data.tasks.pid.filter((_, index) => data.tasks.group[index] === chosen.group));
const groupOfPid = (pid) => {
  const index = taskByPid.get(pid);
  return index === undefined ? -1 : data.tasks.group[index];
};
// What each colour stands for: the groups with a class of their own, and the rest.
const classTitles = Array.from({length: 9}, (_, k) => {
  const g = data.groups.class.indexOf(k);
  return k < data.classes.length && g >= 0 ? groupTitle(g) : "other tasks";
});
const classColour = (k) => style(`--task${Math.min(k, 8)}`);
const runColour = (r) => style(`--run${Math.min(r, 5)}`);

// Groups with most CPU time in any run first.
const groupOrder = data.groups.pid
  .map((_, g) => [g, Math.max(...data.runs.map((_, r) => data.groups.runs[r].sharePpm[g]))])
  .sort((a, b) => b[1] - a[1] || a[0] - b[0])
  .map(([g]) => g);

// ---- compact numbers ----

function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// Reads LEB128 numbers one by one; exact up to 2^53.
function varints(bytes) {
  let at = 0;
  return () => {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  };
}
