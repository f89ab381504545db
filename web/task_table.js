// SPDX-License-Identifier: Apache-2.0
//
// The table of tasks: the chosen run above the run it is compared with; sorted, filtered, paged.
"use strict";

const taskTable = (() => {
  const pageSize = 50;
  const measures = [
    {key: "sharePpm", title: "CPU %", text: (v) => percent(v)},
    {key: "switches", title: "Switches", text: count},
    {key: "involuntary", title: "Lost CPU", text: count, hint: "times it lost the CPU while it could have gone on"},
    {key: "mean", title: "Mean wait ms", text: ms, waits: true},
    {key: "p99", title: "P99 wait ms", text: ms, waits: true},
    {key: "max", title: "Longest ms", text: ms, waits: true},
  ];
  const state = {rows: "groups", sort: "p99", descending: true, filter: "", page: 0};

  const source = () => data[state.rows];
  const figure = (run, key, i) => source().runs[run][key][i];
  const title = (i) => state.rows === "groups" ? groupTitle(i) : `${source().title[i]}`;

  // P99 after and before, where both rest on enough waits to tell.
  const waitsForP99 = 100;
  function change(i) {
    const [before, after] = [figure(chosen.base, "p99", i), figure(chosen.run, "p99", i)];
    if (Math.min(figure(chosen.base, "waits", i), figure(chosen.run, "waits", i)) < waitsForP99) return null;
    return {before, after};
  }

  function sortKey(i) {
    if (state.sort === "name") return source().title[i];
    if (state.sort === "change") {
      const c = change(i);
      return c ? Math.abs(Math.log((c.after + 1) / (c.before + 1))) : -1;
    }
    return figure(chosen.run, state.sort, i);
  }

  function order() {
    const wanted = state.filter.trim().toLowerCase();
    const result = [];
    for (let i = 0; i < source().pid.length; ++i) {
      if (wanted === "" || source().title[i].toLowerCase().includes(wanted) || String(source().pid[i]) === wanted) result.push(i);
    }
    const keys = new Map(result.map((i) => [i, sortKey(i)]));
    const way = state.descending ? -1 : 1;
    return result.sort((a, b) => {
      const [x, y] = [keys.get(a), keys.get(b)];
      if (typeof x === "string") return way * x.localeCompare(y, "en", {numeric: true}) || a - b;
      return way * (x - y) || a - b;
    });
  }

  function header() {
    const columns = [{key: "name", title: "Task"}, ...measures, {key: "change", title: "P99 change"}];
    const cells = columns.map(({key, title, hint}) => {
      const button = element("button", {type: "button", "data-sort": key, title: hint}, title);
      if (state.sort === key) button.append(state.descending ? " ↓" : " ↑");
      button.addEventListener("click", () => {
        state.descending = state.sort === key ? !state.descending : key !== "name";
        state.sort = key;
        state.page = 0;
        render();
        byId("task-table").querySelector(`[data-sort="${key}"]`).focus();
      });
      const sorted = state.sort === key ? (state.descending ? "descending" : "ascending") : null;
      return element("th", {scope: "col", "aria-sort": sorted}, button);
    });
    byId("task-table").tHead.replaceChildren(element("tr", {}, ...cells));
  }

  function cell(measure, i) {
    const text = (run) => measure.waits && figure(run, "waits", i) === 0 ? "–" : measure.text(figure(run, measure.key, i));
    return element("td", {}, text(chosen.run), element("span", {class: "was"},
      element("span", {class: "visually-hidden"}, "before: "), text(chosen.base)));
  }

  function changeCell(i) {
    const c = change(i);
    const text = c && changeText(c.before, c.after);
    const kind = !text || text === "same" ? "" : c.after < c.before ? "better" : "worse";
    return element("td", {class: kind}, text ?? "–");
  }

  function row(i) {
    const swatch = element("i");
    swatch.style.background = `var(--task${Math.min(source().class[i], 8)})`;
    const group = state.rows === "groups" ? i : source().group[i];
    const button = element("button", {type: "button", class: "name", title: `Show the waits of ${groupTitle(group)} above`}, swatch, title(i));
    button.addEventListener("click", () => choose({group, pid: state.rows === "tasks" ? source().pid[i] : null}));
    const name = element("th", {scope: "row"}, button);
    if (state.rows === "tasks") name.append(element("span", {class: "was"}, `pid ${source().pid[i]}`));
    const current = group === chosen.group && (state.rows === "groups" || chosen.pid === null || chosen.pid === source().pid[i]);
    return element("tr", {"aria-current": current ? "true" : null}, name,
      ...measures.map((m) => cell(m, i)), changeCell(i));
  }

  function render() {
    header();
    const rows = order();
    const pages = Math.max(1, Math.ceil(rows.length / pageSize));
    state.page = Math.max(0, Math.min(state.page, pages - 1));
    const first = state.page * pageSize;
    byId("task-table").tBodies[0].replaceChildren(...rows.slice(first, first + pageSize).map(row));
    byId("row-count").textContent = rows.length === source().pid.length ? plural(rows.length, "row")
      : `${count(rows.length)} of ${plural(source().pid.length, "row")}`;
    byId("pager").hidden = pages === 1;
    byId("page-at").textContent = `${count(first + 1)}–${count(Math.min(rows.length, first + pageSize))} of ${count(rows.length)}`;
    byId("page-back").disabled = state.page === 0;
    byId("page-on").disabled = state.page === pages - 1;
    byId("table-note").textContent = `Large: ${data.runs[chosen.run].label}. Small: ${data.runs[chosen.base].label}. ` +
      `A wait is from a wake-up, or from losing the CPU, to running again. The change of P99 is told from ${waitsForP99} waits in both. Choose a name to see its waits above.`;
  }

  function showRows(rows) {
    Object.assign(state, {rows, page: 0});
    byId("by-group").setAttribute("aria-pressed", String(rows === "groups"));
    byId("by-task").setAttribute("aria-pressed", String(rows === "tasks"));
    render();
  }
  byId("by-group").addEventListener("click", () => showRows("groups"));
  byId("by-task").addEventListener("click", () => showRows("tasks"));
  byId("filter").addEventListener("input", (event) => {
    state.filter = event.target.value;
    state.page = 0;
    render();
  });
  byId("page-back").addEventListener("click", () => { --state.page; render(); });
  byId("page-on").addEventListener("click", () => { ++state.page; render(); });
  onChange(render);
  return {render};
})();
