// SPDX-License-Identifier: Apache-2.0
//
// How long the tasks of a name waited: the share of waits up to a length (or beyond it), for each
// run; and the same as a small table.
"use strict";

const distribution = (() => {
  const box = byId("cdf");
  const select = byId("cdf-row");
  let chart = null;
  let tail = false;

  const withPoints = groupOrder.filter((g) => data.runs.some((_, r) => g in data.groups.runs[r].cdf));

  function sums(deltas) {
    let sum = 0;
    return deltas.map((d) => sum += d);
  }

  // A column of x in ms over all runs, and a column of % a run.
  function columns(group) {
    const runs = data.runs.map((_, r) => {
      const cdf = data.groups.runs[r].cdf[group];
      return cdf ? {at: sums(cdf[0]), upto: sums(cdf[1])} : null;
    });
    const least = 100; // ns; a logarithm knows no 0
    const xs = [...new Set(runs.flatMap((run) => run ? run.at.map((ns) => Math.max(ns, least)) : []))].sort((a, b) => a - b);
    const ys = runs.map((run) => {
      if (!run) return xs.map(() => null);
      const all = run.upto[run.upto.length - 1];
      let i = 0;
      let value = 0;
      return xs.map((x) => {
        while (i < run.at.length && Math.max(run.at[i], least) <= x) value = run.upto[i++];
        if (!tail) return value / all * 100;
        return value === all ? null : (all - value) / all * 100;
      });
    });
    return [xs.map((ns) => ns / 1e6), ...ys];
  }

  const axisMs = (v) => v >= 1000 ? `${v / 1000} s` : v >= 1 ? `${v} ms` : v >= 0.001 ? `${+(v * 1000).toPrecision(3)} µs` : `${+(v * 1e6).toPrecision(3)} ns`;
  const isDecade = (v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-6;

  function options(group) {
    const grid = {stroke: style("--line"), width: 1};
    const ink = style("--muted");
    const font = "12px system-ui, sans-serif";
    const dashes = [[6, 4], [], [14, 4], [4, 3], [14, 4, 4, 4], [2, 2]];
    return {
      width: Math.max(240, box.clientWidth), height: 320,
      cursor: {drag: {x: false, y: false}},
      scales: {
        x: {time: false, distr: 3, log: 10},
        y: tail ? {distr: 3, log: 10} : {range: [0, 100]},
      },
      axes: [
        {stroke: ink, grid, ticks: grid, font, label: "wait for a CPU (logarithmic)", labelFont: font, labelSize: 22,
          values: (_, splits) => splits.map((v) => v !== null && isDecade(v) ? axisMs(v) : "")},
        {stroke: ink, grid, ticks: grid, font, size: 62, label: tail ? "waits longer than that, %" : "waits up to that, %",
          labelFont: font, labelSize: 20,
          values: tail ? (_, splits) => splits.map((v) => v !== null && isDecade(v) ? `${+v.toPrecision(3)}` : "") : undefined},
      ],
      series: [
        {label: "wait", value: (_, v) => v === null ? "–" : duration(v * 1e6)},
        ...data.runs.map((run, r) => ({
          label: run.label, stroke: runColour(r), width: 2, dash: dashes[Math.min(r, 5)],
          paths: uPlot.paths.stepped({align: 1}), points: {show: false},
          value: (_, v) => v === null || v === undefined ? "–" : `${v.toFixed(v < 1 || v > 99 ? 2 : 1)} %`,
        })),
      ],
    };
  }

  function table(group) {
    const head = element("tr", {}, ...["Run", "Waits", "Mean ms", "P50 ms", "P99 ms", "Longest ms"].map((text) => element("th", {scope: "col"}, text)));
    const rows = data.runs.map((run, r) => {
      const c = data.groups.runs[r];
      const none = c.waits[group] === 0;
      return element("tr", {}, element("th", {scope: "row"}, run.label), element("td", {}, count(c.waits[group])),
        ...["mean", "p50", "p99", "max"].map((key) => element("td", {}, none ? "–" : ms(c[key][group]))));
    });
    byId("cdf-table").replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows));
  }

  function draw() {
    const group = chosen.group;
    select.value = group;
    if (chart) chart.destroy();
    chart = null;
    table(group);
    const has = withPoints.includes(group);
    box.hidden = !has;
    const all = data.groups.pid.length;
    byId("cdf-note").textContent = !has
      ? `${groupTitle(group)} did not wait, or is not among the ${withPoints.length} names whose distribution is kept.`
      : "Every wait after a wake-up or after losing the CPU; lengths are exact to 2 % or better up to the longest, which is exact." +
        (withPoints.length < all ? ` Kept for ${withPoints.length} of ${all} names: those that waited, by CPU time.` : "");
    if (!has) return;
    chart = new uPlot(options(group), columns(group), box);
    box.setAttribute("aria-label", `Distribution of the waits of ${groupTitle(group)}; the table below has its figures`);
  }

  fillSelect(select, withPoints.map((g) => [g, groupTitle(g)]), chosen.group);
  select.addEventListener("change", () => choose({group: Number(select.value)}));
  for (const [id, isTail] of [["cdf-share", false], ["cdf-tail", true]]) {
    byId(id).addEventListener("click", () => {
      tail = isTail;
      byId("cdf-share").setAttribute("aria-pressed", String(!tail));
      byId("cdf-tail").setAttribute("aria-pressed", String(tail));
      draw();
    });
  }
  new ResizeObserver(() => {
    if (chart && box.clientWidth > 0) chart.setSize({width: Math.max(240, box.clientWidth), height: 320});
  }).observe(byId("cdf-table").parentElement);
  onChange((changes) => { if ("group" in changes) draw(); });
  return {draw};
})();
