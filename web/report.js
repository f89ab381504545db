// SPDX-License-Identifier: Apache-2.0
//
// Fills the page: summary, settings, anomalies, the command; and starts the other parts.
"use strict";

function heading() {
  const {trace} = data;
  byId("brand").textContent = recorded ? "vlag replay" : "vlag run";
  document.title = `vlag: ${trace.name}`;
  byId("title").textContent = trace.name;
  const longest = recorded ? data.runs[0].span : Math.max(...data.runs.map((run) => run.span));
  byId("subtitle").textContent = [duration(longest), plural(trace.cpus, "CPU"), plural(data.tasks.pid.length, "task"),
    recorded ? `${plural(trace.events, "event")} (${trace.format})` : trace.format].join(" · ");
}

function trust() {
  const {check} = data;
  byId("sentence").textContent = data.change.text;
  const part = check.of === 0 ? 0 : check.held / check.of;
  const kind = check.of === 0 || !check.coversHalf ? "bad" : part === 1 ? "good" : part >= 0.5 ? "warn" : "bad";
  if (!recorded) {
    byId("trust").replaceChildren(element("span", {class: "badge"}, "Simulated"), element("span", {}, check.text));
    return;
  }
  const text = check.of === 0 ? "Not checked" : {good: "Self-check passed", warn: "Take with care", bad: "Not to be trusted"}[kind];
  byId("trust").replaceChildren(element("span", {class: `badge ${kind}`}, text), element("span", {}, check.text));
  if (!check.misses || check.misses.length === 0) return;
  byId("misses").hidden = false;
  const head = element("tr", {}, ...["Task", "Measure", "Recorded", "Replayed", "Allowed difference"].map((t) => element("th", {scope: "col"}, t)));
  const rows = check.misses.map((miss) => element("tr", {}, ...miss.map((t, i) => element(i === 0 ? "th" : "td", {}, t))));
  byId("misses-body").replaceChildren(element("div", {class: "scroll"}, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows))));
}

// Five numbers of the whole: what they are, and whether less is better.
const headline = [
  {title: "Longest wait for a CPU", value: (run) => run.max, parts: durationParts, less: true},
  {title: "99 % of waits are below", value: (run) => run.p99, parts: durationParts, less: true},
  {title: "Mean wait", value: (run) => run.mean, parts: durationParts, less: true},
  {title: "Switches per second", value: (run) => run.span === 0 ? 0 : Math.round(run.switches * 1e9 / run.span), parts: (n) => [count(n), "/s"]},
  {title: "CPU time in use", value: (run) => run.sharePpm, parts: (ppm) => [percent(ppm), "%"]},
];

function cards() {
  const [before, after] = [data.runs[chosen.base], data.runs[chosen.run]];
  byId("cards").replaceChildren(...headline.map(({title, value, parts, less}) => {
    const [was, now] = [value(before), value(after)];
    const [number, unit] = parts(now);
    const change = changeText(was, now);
    const kind = less && change && change !== "same" ? (now < was ? "better" : "worse") : "";
    return element("div", {}, element("dt", {}, title),
      element("dd", {class: "now"}, number, " ", element("small", {}, unit)),
      element("dd", {class: "was"}, `was ${parts(was).join(" ")}`, change ? ", " : null, change ? element("span", {class: kind}, change) : null));
  }));
}

function pair() {
  const entries = data.runs.map((run, r) => [r, run.label]);
  for (const key of ["base", "run"]) {
    fillSelect(byId(key), entries, chosen[key]);
    byId(key).addEventListener("change", (event) => choose({[key]: Number(event.target.value)}));
  }
}

function settings() {
  const simulated = data.runs.map((_, r) => r).slice(recorded ? 1 : 0);
  const head = () => element("thead", {}, element("tr", {}, element("th", {scope: "col"}, "Setting"),
    ...simulated.map((r) => element("th", {scope: "col"}, data.runs[r].label)), element("th", {scope: "col", class: "text"}, "Meaning")));
  const row = (s) => {
    const meaning = element("td", {class: "text"}, s.meaning);
    return element("tr", {}, element("th", {scope: "row"}, s.name), ...simulated.map((r) => element("td", {}, s.values[r] ?? "–")), meaning);
  };
  // A setting that only one kind of scheduler has is no difference between two runs of the other.
  const differs = (s) => new Set(simulated.map((r) => s.values[r]).filter((v) => v !== null)).size > 1;
  const main = data.settings.filter((s) => s.kind === "profile" || s.kind === "task" || differs(s));
  const rest = data.settings.filter((s) => !main.includes(s));
  byId("settings").replaceChildren(head(), element("tbody", {}, ...main.map(row)));
  byId("settings-rest").replaceChildren(head(), element("tbody", {}, ...rest.map(row)));
  byId("all-settings").hidden = rest.length === 0;
  byId("all-settings").firstElementChild.textContent = `${plural(rest.length, "more setting")}, the same in all runs that have them`;
}

function anomalies() {
  const items = data.anomalies.map((a) => {
    const first = a.first.length > 0 ? ` (first: ${a.first[0]})` : "";
    return element("li", {}, `${a.from}: ${a.kind}: ${count(a.count)}${first}`);
  });
  items.push(...data.notes.map((text) => element("li", {}, text)));
  byId("anomalies").replaceChildren(items.length > 0 ? element("ul", {}, ...items)
    : element("p", {class: "muted"}, recorded ? "Nothing: every event of the recording was understood, and nothing was guessed." : "Nothing."));
}

function again() {
  byId("command").textContent = data.command;
  byId("made-by").textContent = `vlag ${data.version}, seed ${data.trace.seed}. The same command on the same ${recorded ? "recording" : "workload"} gives the same page, byte for byte.`;
  const button = byId("copy");
  if (!navigator.clipboard) {
    button.hidden = true;
    return;
  }
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(data.command);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy command"; }, 1500);
  });
}

const theme = (() => {
  const button = byId("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  let own = null;
  function apply() {
    const dark = own ?? system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-label", dark ? "Use light colours" : "Use dark colours");
  }
  function changed() {
    apply();
    timeline.restyle();
    distribution.draw();
  }
  button.addEventListener("click", () => { own = document.documentElement.dataset.theme !== "dark"; changed(); });
  system.addEventListener("change", changed);
  return {apply};
})();

// The name to begin with: whose P99 changed most, of those with enough waits to tell.
function firstGroup() {
  const [before, after] = [data.groups.runs[chosen.base], data.groups.runs[chosen.run]];
  let best = groupOrder[0] ?? 0;
  let most = 0;
  for (const g of groupOrder) {
    if (before.waits[g] < 100 || after.waits[g] < 100) continue;
    const change = Math.abs(Math.log(Math.max(after.p99[g], 1e5) / Math.max(before.p99[g], 1e5)));
    if (change > most) [best, most] = [g, change];
  }
  return best;
}

theme.apply();
heading();
trust();
pair();
cards();
settings();
anomalies();
again();
onChange(cards);
chosen.group = firstGroup();
timeline.start();
distribution.draw();
taskTable.render();
document.documentElement.dataset.ready = "true";
performance.mark("vlag-drawn");
