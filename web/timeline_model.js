// SPDX-License-Identifier: Apache-2.0
//
// What the timeline shows, without drawing: bins, single runs of tasks ("stretches"), and what can
// be said about each.
"use strict";

const wait = {none: 0, woken: 1, lostCpu: 2};
const left = {blocked: 0, exited: 1, preempted: 2, yielded: 3, cut: 4};
const classCount = 9;

const unzigzag = (n) => n % 2 === 0 ? n / 2 : -(n + 1) / 2;
const signedOrNull = (n) => n === 0 ? null : unzigzag(n - 1);

class run_timeline {
  constructor(index, line) {
    this.index = index;
    this.span = line.span;
    this.cpus = line.cpus;
    this.bins = line.bins;
    this.binNs = line.binNs;
    this.shares = bytesOf(line.shares);
    this.sums = new Float64Array(classCount);
    this.windows = line.windows.map((w) => ({...w, cpu: run_timeline.decode(w, line.cpus)}));
  }

  // Stretches of a window, a list a CPU in ascending time.
  static decode(window, cpus) {
    const next = varints(bytesOf(window.data));
    const lists = Array.from({length: cpus}, () => []);
    let from = 0;
    for (let i = 0; i < window.count; ++i) {
      from += unzigzag(next());
      const s = {from, to: from + next()};
      s.cpu = next();
      s.pid = next();
      s.waited = next();
      s.wait = next();
      s.waker = next();
      s.left = next();
      s.next = next();
      s.why = next();
      s.lag = signedOrNull(next());
      s.toDeadline = signedOrNull(next());
      lists[s.cpu].push(s);
    }
    return lists;
  }

  // Index of the first stretch of the list that ends after that time.
  static firstAfter(list, time) {
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle].to > time) high = middle; else low = middle + 1;
    }
    return low;
  }

  windowAt(time) {
    return this.windows.find((w) => time >= w.completeFrom && time < w.to);
  }

  stretchAt(cpu, time) {
    const window = this.windowAt(time);
    if (!window) return null;
    const list = window.cpu[cpu];
    const s = list[run_timeline.firstAfter(list, time)];
    return s && s.from <= time ? s : null;
  }

  // Parts of the span between two times by class, in 0..1; the rest is idle. Good until the next call.
  shareOf(cpu, from, to) {
    const sums = this.sums;
    sums.fill(0);
    const first = Math.max(0, Math.floor(from / this.binNs));
    const last = Math.min(this.bins - 1, Math.max(first, Math.ceil(to / this.binNs) - 1));
    for (let bin = first; bin <= last; ++bin) {
      const at = (cpu * this.bins + bin) * classCount;
      for (let k = 0; k < classCount; ++k) sums[k] += this.shares[at + k];
    }
    const scale = 1 / (255 * Math.max(1, last - first + 1));
    for (let k = 0; k < classCount; ++k) sums[k] *= scale;
    return sums;
  }

  // Waits of those tasks: {from, to, pid, s}, ascending by their ends, s being the stretch that
  // followed. Those within detail windows, and the longest of each task wherever it is (s is null).
  waitsOf(pids) {
    const result = [];
    const told = new Set();
    for (const window of this.windows) {
      for (const list of window.cpu) {
        for (const s of list) {
          if (s.waited === 0 || !pids.has(s.pid)) continue;
          result.push({from: s.from - s.waited, to: s.from, pid: s.pid, s});
          told.add(`${s.pid} ${s.from}`);
        }
      }
    }
    const {maxFrom, maxTo} = data.tasks.runs[this.index];
    for (const pid of pids) {
      const index = taskByPid.get(pid);
      if (maxTo[index] > maxFrom[index] && !told.has(`${pid} ${maxTo[index]}`)) {
        result.push({from: maxFrom[index], to: maxTo[index], pid, s: null});
      }
    }
    return result.sort((x, y) => x.to - y.to);
  }
}

// The most that wait at once.
function mostAtOnce(waits) {
  const edges = waits.flatMap((w) => [[w.from, 1], [w.to, -1]]).sort((x, y) => x[0] - y[0] || x[1] - y[1]);
  let now = 0;
  let most = 0;
  for (const [, by] of edges) most = Math.max(most, now += by);
  return most;
}

const timelines = data.runs.map((run, index) => run.timeline && new run_timeline(index, run.timeline));

function whyItRan(s) {
  if (s.wait === wait.woken) {
    const by = s.waker === 0 ? "woken by an interrupt or timer" : `woken by ${taskName(s.waker)}`;
    return s.waited === 0 ? `${by}, ran at once` : `${by}, waited ${duration(s.waited)} for the CPU`;
  }
  if (s.wait === wait.lostCpu) return `got the CPU back ${duration(s.waited)} after losing it`;
  return "what it did before is not known here";
}

// Where it stood among those that could run, of which it was chosen.
function standing(s) {
  if (s.lag === null && s.toDeadline === null) return [];
  const parts = [];
  if (s.lag !== null) parts.push(s.lag >= 0 ? `was owed ${duration(s.lag)} (eligible)` : `was ${duration(-s.lag)} ahead of its share`);
  if (s.toDeadline !== null) parts.push(`deadline ${duration(s.toDeadline)} after its vruntime`);
  return [`When chosen it ${parts.join("; ")}.`];
}

function whyItStopped(s) {
  switch (s.left) {
    case left.blocked: return "it had nothing to do any more (blocked or slept)";
    case left.exited: return "it ended";
    case left.yielded: return `it gave the CPU away${s.next === 0 ? "" : ` and ${taskName(s.next)} took it`}`;
    case left.preempted: {
      const to = s.next === 0 ? "" : ` to ${taskName(s.next)}`;
      const reason = s.why === 0 ? "" : data.reasons[s.why - 1];
      if (reason !== "") return `it lost the CPU${to}, since ${reason}`;
      if (isRealtime(s.next)) return `it lost the CPU${to}, a real-time task`;
      return `it lost the CPU${to} while it could have gone on`;
    }
    default: return "the run ends here";
  }
}

// Lines about what a CPU did at a time: [heading, line…].
function describe(line, cpu, time) {
  const where = `CPU ${cpu}, ${data.runs[line.index].label}`;
  const s = line.stretchAt(cpu, time);
  if (s) {
    return [`${taskName(s.pid)} on ${where}`,
      `ran ${duration(s.to - s.from)}, from ${seconds(s.from)} to ${seconds(s.to)}`,
      `Why it ran: ${whyItRan(s)}.`, ...standing(s), `Why it stopped: ${whyItStopped(s)}.`];
  }
  if (time >= line.span) return [`${where}: this run has ended`];
  if (line.windowAt(time)) return [`Idle on ${where}`, `at ${seconds(time)}`];
  const bin = Math.floor(time / line.binNs);
  const shares = line.shareOf(cpu, bin * line.binNs, (bin + 1) * line.binNs);
  const parts = [...shares].map((share, k) => [share, classTitles[k]])
    .filter(([share]) => share >= 0.005).sort((a, b) => b[0] - a[0])
    .map(([share, name]) => `${name} ${(share * 100).toFixed(0)} %`);
  return [`${where}: ${duration(line.binNs)} from ${seconds(bin * line.binNs, 4)}`,
    parts.length > 0 ? parts.join(", ") : "idle", "No single runs are kept for this time."];
}

function describeWait(line, w) {
  const label = data.runs[line.index].label;
  const lines = [`${taskName(w.pid)} waited ${duration(w.to - w.from)} for a CPU, ${label}`];
  const span = `from ${seconds(w.from)} to ${seconds(w.to)}`;
  if (!w.s) return [...lines, `${span}: its longest wait`];
  const by = w.s.waker === 0 ? "an interrupt or timer" : taskName(w.s.waker);
  lines.push(`${span}, ${w.s.wait === wait.woken ? `after ${by} woke it` : "after it lost the CPU"}`);
  return [...lines, ...whoRanDuring(line, w)];
}

function whoRanDuring(line, w) {
  const window = line.windowAt(w.to - 1);
  if (!window || window.completeFrom > w.from) return [];
  const list = window.cpu[w.s.cpu];
  const sums = new Map();
  for (let i = run_timeline.firstAfter(list, w.from); i < list.length && list[i].from < w.to; ++i) {
    const s = list[i];
    sums.set(s.pid, (sums.get(s.pid) ?? 0) + Math.min(s.to, w.to) - Math.max(s.from, w.from));
  }
  const parts = [...sums].sort((a, b) => b[1] - a[1]);
  if (parts.length === 0) return [];
  const shown = parts.slice(0, 4).map(([pid, ns]) => `${taskName(pid)} ${duration(ns)}`).join(", ");
  return [`Ran on CPU ${w.s.cpu} meanwhile: ${shown}${parts.length > 4 ? ` and ${parts.length - 4} more` : ""}.`];
}
