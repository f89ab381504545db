// SPDX-License-Identifier: Apache-2.0
//
// Draws the timeline and moves in it. Times are ns from the start of each run.
"use strict";

const timeline = (() => {
  const canvas = byId("timeline");
  const box = byId("timeline-box");
  const tip = byId("tip");
  const whole = Math.max(1, ...timelines.map((line) => line ? line.span : 0));
  const view = {from: 0, to: whole};
  const smallest = 1000;
  const gutter = 56;
  const axisHeight = 22;
  const waitHeight = 16;
  const thinLane = 8; // too thin to divide
  let blocks = [];   // where each run's lanes are
  let waits = [];    // of the chosen tasks, a list a run
  let most = 1;      // of them that wait at once
  let cursor = null; // {run, cpu, time} that the keyboard or a tap has chosen
  let pending = false;

  const width = () => box.clientWidth;
  const plot = () => width() - gutter;
  const xOf = (time) => gutter + (time - view.from) / (view.to - view.from) * plot();
  const timeAt = (x) => view.from + (x - gutter) / plot() * (view.to - view.from);

  function layOut() {
    blocks = [];
    let y = axisHeight + 4;
    for (const line of timelines) {
      if (!line) continue;
      const lane = Math.max(4, Math.min(30, 160 / line.cpus));
      const gap = lane >= 8 ? 2 : 0;
      const top = y + 20;
      const lanes = line.cpus * (lane + gap);
      blocks.push({line, label: y + 14, top, lane, gap, wait: top + lanes + 2, bottom: top + lanes + 2 + waitHeight});
      y = top + lanes + waitHeight + 14;
    }
    return y;
  }

  function niceStep(least) {
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= least);
  }

  function drawAxis(g, height) {
    const step = niceStep((view.to - view.from) / Math.max(2, plot() / 110));
    const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / 1e9) + 1e-9)));
    g.fillStyle = style("--muted");
    g.strokeStyle = style("--line");
    g.font = "12px system-ui, sans-serif";
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      const x = Math.round(xOf(t)) + 0.5;
      g.beginPath();
      g.moveTo(x, axisHeight - 4);
      g.lineTo(x, height);
      g.stroke();
      g.textAlign = x < gutter + 20 ? "left" : x > width() - 24 ? "right" : "center";
      g.fillText(t === 0 ? "0" : `${(t / 1e9).toFixed(digits)} s`, x, 12);
    }
  }

  function drawBins(g, block, cpu, fromX, toX) {
    const {line} = block;
    const y = block.top + cpu * (block.lane + block.gap);
    const perPixel = (view.to - view.from) / plot();
    const columns = Math.max(1, line.binNs / perPixel); // px a column
    for (let x = fromX; x < toX;) {
      const from = timeAt(x);
      const bin = Math.floor(from / line.binNs);
      let next = columns > 1 ? xOf((bin + 1) * line.binNs) : x + 1;
      next = Math.min(toX, Math.max(next, x + 0.5));
      const to = columns > 1 ? (bin + 1) * line.binNs : timeAt(next);
      if (from >= line.span) return;
      if (to > 0) {
        const shares = line.shareOf(cpu, columns > 1 ? bin * line.binNs : from, to);
        if (block.lane < thinLane) {
          fillThin(g, shares, x, y, next - x, block.lane);
          x = next;
          continue;
        }
        let base = y + block.lane;
        for (let k = 0; k < classCount; ++k) {
          if (shares[k] === 0) continue;
          const h = shares[k] * block.lane;
          g.fillStyle = palette[k];
          g.fillRect(x, base - h, next - x, h);
          base -= h;
        }
      }
      x = next;
    }
  }

  // In thin lanes: the colour of the class with most of the time, as strong as the CPU was busy.
  function fillThin(g, shares, x, y, w, h) {
    let first = 0;
    let busy = 0;
    for (let k = 0; k < classCount; ++k) {
      busy += shares[k];
      if (shares[k] > shares[first]) first = k;
    }
    if (busy === 0) return;
    g.globalAlpha = Math.min(1, busy);
    g.fillStyle = palette[first];
    g.fillRect(x, y, w, h);
    g.globalAlpha = 1;
  }

  let palette = [];

  function drawStretches(g, block, window, cpu) {
    const y = block.top + cpu * (block.lane + block.gap);
    const list = window.cpu[cpu];
    const begin = Math.max(view.from, window.completeFrom);
    const end = Math.min(view.to, window.to);
    g.font = "12px system-ui, sans-serif";
    g.textAlign = "left";
    for (let i = run_timeline.firstAfter(list, begin); i < list.length && list[i].from < end; ++i) {
      const s = list[i];
      const x = xOf(Math.max(s.from, begin));
      const w = Math.max(0.75, xOf(Math.min(s.to, end)) - x - (block.lane >= 8 ? 0.5 : 0));
      const task = taskByPid.get(s.pid);
      const k = task === undefined ? 8 : Math.min(data.tasks.class[task], 8);
      g.fillStyle = palette[k];
      g.fillRect(x, y, w, block.lane);
      if (w < 20 || block.lane < 14 || task === undefined) continue;
      const name = data.tasks.title[task];
      if (g.measureText(name).width > w - 6) continue;
      g.fillStyle = inkOn[k];
      g.fillText(name, x + 3, y + block.lane / 2 + 4);
    }
  }

  let inkOn = [];

  function choosePalette() {
    palette = Array.from({length: classCount}, (_, k) => classColour(k));
    inkOn = palette.map((colour) => {
      const [r, green, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16) / 255)
        .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * green + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
    });
  }

  // Single stretches are drawn where they would be told apart: at least 2 px each on average.
  function drawnInDetail(window) {
    const begin = Math.max(view.from, window.completeFrom);
    const end = Math.min(view.to, window.to);
    if (begin >= end) return false;
    const px = xOf(end) - xOf(begin);
    return window.cpu.every((list) =>
      run_timeline.firstAfter(list, end) - run_timeline.firstAfter(list, begin) <= px / 2 + 1);
  }

  function drawLanes(g, block) {
    const {line} = block;
    const detailed = line.windows.filter(drawnInDetail);
    const end = Math.min(width(), xOf(line.span));
    for (let cpu = 0; cpu < line.cpus; ++cpu) {
      const y = block.top + cpu * (block.lane + block.gap);
      g.fillStyle = style("--lane");
      g.fillRect(Math.max(gutter, xOf(0)), y, Math.max(0, end - Math.max(gutter, xOf(0))), block.lane);
      let x = gutter;
      for (const window of detailed) {
        const from = Math.max(gutter, xOf(window.completeFrom));
        if (from > x) drawBins(g, block, cpu, x, from);
        drawStretches(g, block, window, cpu);
        x = Math.max(x, Math.min(width(), xOf(window.to)));
      }
      if (x < end) drawBins(g, block, cpu, x, end);
    }
  }

  // The height is how many of the tasks wait, on average over a pixel.
  function drawWaits(g, block) {
    const columns = new Float32Array(Math.max(1, Math.ceil(plot())) + 1);
    const add = (x, by) => {
      const at = Math.max(0, Math.min(columns.length - 1, x));
      const i = Math.floor(at);
      columns[i] += by * (1 - (at - i));
      if (i + 1 < columns.length) columns[i + 1] += by * (at - i);
    };
    for (const w of waits[block.line.index]) {
      if (w.to < view.from || w.from > view.to) continue;
      add(xOf(w.from) - gutter, 1);
      add(xOf(w.to) - gutter, -1);
    }
    g.fillStyle = style("--wait");
    const room = waitHeight - 4;
    let now = 0;
    for (let i = 0; i < columns.length; ++i) {
      now += columns[i];
      if (now < 0.001) continue;
      const h = Math.max(2, Math.min(1, now / most) * room);
      g.fillRect(gutter + i, block.wait + 2 + room - h, 1, h);
    }
  }

  function drawLabels(g, block) {
    const {line} = block;
    g.textAlign = "left";
    g.font = "600 13px system-ui, sans-serif";
    g.fillStyle = style("--ink");
    g.fillText(data.runs[line.index].label, 0, block.label);
    g.font = "11px system-ui, sans-serif";
    g.fillStyle = style("--muted");
    const every = Math.max(1, Math.ceil(14 / (block.lane + block.gap)));
    for (let cpu = 0; cpu < line.cpus; cpu += every) {
      const y = block.top + cpu * (block.lane + block.gap);
      g.fillText(`CPU ${cpu}`, 0, y + Math.max(9, block.lane / 2 + 4));
    }
    g.fillText("waits", 0, block.wait + 12);
  }

  // Where single runs are kept, when that is not everywhere.
  function drawDetailMarks(g, block) {
    const {line} = block;
    if (keepsAll(line)) return;
    g.fillStyle = style("--accent");
    for (const w of line.windows) {
      const from = Math.max(gutter, xOf(w.completeFrom));
      const to = Math.min(width(), xOf(w.to));
      if (to > from || (to >= gutter && from <= width())) g.fillRect(from, block.top - 3, Math.max(2, to - from), 2);
    }
  }

  function drawCursor(g) {
    if (!cursor) return;
    const block = blocks.find((b) => b.line.index === cursor.run);
    const s = block && block.line.stretchAt(cursor.cpu, cursor.time);
    if (!s || s.to < view.from || s.from > view.to) return;
    const y = block.top + cursor.cpu * (block.lane + block.gap);
    const x = Math.max(gutter, xOf(s.from));
    g.strokeStyle = style("--ink");
    g.lineWidth = 2;
    g.strokeRect(x, y - 1, Math.max(3, Math.min(width(), xOf(s.to)) - x), block.lane + 2);
    g.lineWidth = 1;
  }

  function draw() {
    pending = false;
    const height = layOut();
    const scale = window.devicePixelRatio || 1;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width() * scale);
    canvas.height = Math.round(height * scale);
    const g = canvas.getContext("2d");
    g.scale(scale, scale);
    drawAxis(g, height);
    for (const block of blocks) {
      g.save();
      g.beginPath();
      g.rect(gutter, block.top - 3, plot(), block.bottom - block.top + 3);
      g.clip();
      drawLanes(g, block);
      drawWaits(g, block);
      drawDetailMarks(g, block);
      g.restore();
      drawLabels(g, block);
    }
    drawCursor(g);
    canvas.setAttribute("aria-label", `Timeline from ${seconds(view.from, 4)} to ${seconds(view.to, 4)}: ` +
      `who had each CPU in ${blocks.map((b) => data.runs[b.line.index].label).join(", ")}`);
  }

  function redraw() {
    if (pending) return;
    pending = true;
    requestAnimationFrame(draw);
  }

  function show(from, to) {
    const span = Math.min(whole, Math.max(smallest, to - from));
    view.from = Math.max(0, Math.min(whole - span, from));
    view.to = view.from + span;
    redraw();
  }
  function zoom(factor, at = (view.from + view.to) / 2) {
    const span = Math.min(whole, Math.max(smallest, (view.to - view.from) * factor));
    const part = (at - view.from) / (view.to - view.from);
    show(at - part * span, at - part * span + span);
  }
  const pan = (part) => show(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));

  // The lines that belong to a point of the canvas, or null; and what was hit.
  function hit(x, y) {
    if (x < gutter) return null;
    const block = blocks.find((b) => y >= b.top && y < b.bottom);
    if (!block) return null;
    const time = timeAt(x);
    if (y >= block.wait) {
      const margin = (view.to - view.from) / plot() * 2;
      const near = waits[block.line.index].filter((w) => w.from - margin <= time && time <= w.to + margin);
      const w = near.sort((a, b) => (b.to - b.from) - (a.to - a.from))[0];
      return w ? {lines: describeWait(block.line, w)} : null;
    }
    const cpu = Math.min(block.line.cpus - 1, Math.floor((y - block.top) / (block.lane + block.gap)));
    return {lines: describe(block.line, cpu, time), cursor: {run: block.line.index, cpu, time}};
  }

  function say(lines) {
    byId("readout").replaceChildren(element("b", {}, lines[0]), ...lines.slice(1).flatMap((text) => [element("br"), text]));
  }

  function showTip(x, y) {
    const found = hit(x, y);
    tip.hidden = !found;
    if (!found) return;
    tip.replaceChildren(element("b", {}, found.lines[0]), ...found.lines.slice(1).map((text) => element("div", {}, text)));
    const right = x + 16 + tip.offsetWidth > width();
    tip.style.left = `${right ? Math.max(0, x - 16 - tip.offsetWidth) : x + 16}px`;
    tip.style.top = `${y + 18}px`;
  }

  const point = (event) => {
    const r = canvas.getBoundingClientRect();
    return [event.clientX - r.left, event.clientY - r.top];
  };
  const fingers = new Map();
  let drag = null;

  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, event.clientX);
    canvas.setPointerCapture(event.pointerId);
    drag = {x: event.clientX, from: view.from, to: view.to, moved: false, spread: spread()};
    tip.hidden = true;
  });
  function spread() {
    const xs = [...fingers.values()];
    return xs.length === 2 ? Math.max(20, Math.abs(xs[0] - xs[1])) : 0;
  }
  canvas.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) {
      if (event.pointerType === "mouse") showTip(...point(event));
      return;
    }
    fingers.set(event.pointerId, event.clientX);
    if (fingers.size === 2) {
      const part = drag.spread / spread();
      const middle = (drag.from + drag.to) / 2;
      show(middle - (drag.to - drag.from) * part / 2, middle + (drag.to - drag.from) * part / 2);
      drag.moved = true;
      return;
    }
    const by = event.clientX - drag.x;
    if (Math.abs(by) > 3) drag.moved = true;
    if (!drag.moved) return;
    canvas.classList.add("dragging");
    const shift = by / plot() * (drag.to - drag.from);
    show(drag.from - shift, drag.to - shift);
  });
  function release(event) {
    fingers.delete(event.pointerId);
    canvas.classList.remove("dragging");
    if (event.type !== "pointerup" || !drag || drag.moved) return;
    const found = hit(...point(event));
    if (!found) return;
    cursor = found.cursor ?? cursor;
    say(found.lines);
    redraw();
  }
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("dblclick", (event) => zoom(0.4, timeAt(point(event)[0])));
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      zoom(1.0015 ** event.deltaY, timeAt(point(event)[0]));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      pan((event.deltaX || event.deltaY) / plot());
    }
  }, {passive: false});

  // The neighbour of the stretch under the cursor on its CPU; the cursor starts in the middle.
  function step(way) {
    if (!cursor || cursor.time < view.from || cursor.time > view.to) {
      cursor = {run: chosen.run, cpu: cursor ? cursor.cpu : 0, time: (view.from + view.to) / 2};
    }
    const line = timelines[cursor.run];
    const nearest = line && (line.windowAt(cursor.time) ?? line.windows[0]);
    if (!nearest) return;
    const list = nearest.cpu[cursor.cpu];
    const at = run_timeline.firstAfter(list, cursor.time);
    const inside = list[at] && list[at].from <= cursor.time;
    const s = list[way > 0 ? at + (inside ? 1 : 0) : at - 1];
    if (!s) return;
    cursor = {...cursor, time: s.from};
    if (s.from < view.from || s.to > view.to) {
      const half = (view.to - view.from) / 2;
      show(s.from - half, s.from + half);
    }
    say(describe(line, cursor.cpu, s.from));
    redraw();
  }
  const keys = {
    ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => zoom(0.5), "=": () => zoom(0.5),
    "-": () => zoom(2), 0: () => show(0, whole), Home: () => show(0, view.to - view.from),
    End: () => show(whole - (view.to - view.from), whole), ",": () => step(-1), ".": () => step(1),
  };
  canvas.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });

  byId("zoom-in").addEventListener("click", () => zoom(0.5));
  byId("zoom-out").addEventListener("click", () => zoom(2));
  byId("zoom-all").addEventListener("click", () => show(0, whole));

  const keepsAll = (line) =>
    line.windows.length === 1 && line.windows[0].completeFrom === 0 && line.windows[0].to >= line.span;

  // The worst waits of the runs, to go to.
  const places = data.runs.flatMap((run, r) => run.worst.map((w, i) => ({...w, r, i})));
  function goTo(place) {
    const margin = Math.max((place.to - place.from) * 0.25, 200000);
    show(place.from - margin, place.to + margin);
    choose({group: groupOfPid(place.pid), pid: place.pid});
    const line = timelines[place.r];
    const w = line && waits[place.r].find((x) => x.to === place.to);
    say(w ? describeWait(line, w)
      : [`${taskName(place.pid)} waited ${duration(place.to - place.from)} under ${data.runs[place.r].label}`,
        `from ${seconds(place.from)} to ${seconds(place.to)}`]);
  }
  const select = byId("go-to");
  fillSelect(select, [["", "a long wait …"], ...places.map((p, i) =>
    [i, `${data.runs[p.r].label}: ${taskName(p.pid)}, ${duration(p.to - p.from)}`])], "");
  select.addEventListener("change", () => {
    if (select.value !== "") goTo(places[Number(select.value)]);
  });

  const laneRow = byId("lane-row");
  laneRow.addEventListener("change", () => {
    if (laneRow.value !== "task") choose({group: Number(laneRow.value)});
  });

  function chooseWaits() {
    const pids = chosenPids();
    waits = timelines.map((line) => line ? line.waitsOf(pids) : []);
    most = Math.max(1, ...waits.map(mostAtOnce));
    const groups = groupOrder.slice(0, 500);
    if (!groups.includes(chosen.group)) groups.push(chosen.group);
    const entries = groups.map((g) => [g, groupTitle(g)]);
    if (chosen.pid !== null) entries.unshift(["task", taskName(chosen.pid)]);
    fillSelect(laneRow, entries, chosen.pid === null ? chosen.group : "task");
  }

  function legend() {
    const items = data.classes.map((_, k) => [palette[k], classTitles[k], ""]);
    if (data.groups.pid.length > data.classes.length) items.push([palette[8], "other tasks", ""]);
    items.push([style("--wait"), `waits of ${chosenTitle()}${most > 1 ? ", the higher the more of them" : ""}`, "line"]);
    byId("legend").replaceChildren(...items.map(([colour, name, kind]) => {
      const swatch = element("i", {class: kind});
      swatch.style.background = colour;
      return element("li", {}, swatch, name);
    }));
  }

  function note() {
    const lines = timelines.filter(Boolean);
    if (lines.length === 0) return "";
    const texts = [];
    const thin = blocks.some((block) => block.lane < thinLane);
    const binned = `Where runs of tasks are too short to be told apart, ` + (thin ? "the colour is that of the tasks with most of the time" : "the height of a colour is its tasks' share of the time") +
      `, in steps of ${duration(lines[0].binNs)}.`;
    if (lines.every(keepsAll)) {
      texts.push(`Every single run of a task is here; zoom in to see them. ${binned}`);
    } else {
      for (const line of lines) {
        const run = data.runs[line.index];
        const kept = line.windows.reduce((sum, w) => sum + w.count, 0);
        texts.push(`${run.label}: ${count(kept)} of ${count(run.timeline.stretches)} single runs are kept, ` +
          (keepsAll(line) ? "all of them." : "around the longest waits (blue marks); the rest as shares."));
      }
      if (recorded) texts.push("A --window of at most 50,000 of them is kept in full.");
      texts.push(binned);
    }
    texts.push(recorded ? "A simulated run ends where the first of its tasks has done all of its recorded work."
      : "A run ends where all of its tasks have exited.");
    return texts.join(" ");
  }

  function restyle() {
    choosePalette();
    legend();
    redraw();
  }
  new ResizeObserver(redraw).observe(box);
  onChange((changes) => {
    if (!("group" in changes)) return;
    chooseWaits();
    legend();
    redraw();
  });
  return {
    start() {
      chooseWaits();
      restyle();
      draw();
      byId("timeline-note").textContent = note();
    },
    restyle, show, view,
    // Where lanes are on the canvas, for tests.
    blocks: () => blocks,
  };
})();
