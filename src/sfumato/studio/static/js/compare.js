// Step 5: every method on the same sample, one after the other, while you watch.

import { lines } from "./api.js";
import { gradeBadge, h, progress } from "./dom.js";
import { decimal, percent } from "./format.js";
import { change, listen, method, state } from "./state.js";
import { tradeoff } from "./charts.js";
import { go, heading, sentence, tell } from "./shell.js";

let root = null;
let parts = null;
let running = null;

listen(["compared"], () => { if (root?.isConnected) fill(); });

export function draw() {
  parts = { action: h("div", { class: "row wrap" }), rows: h("tbody"), plot: h("div", { class: "plot", role: "img", "aria-label": "Methods: what they hide against what they keep; the table below has the same figures" }), table: h("section", { class: "card", "aria-label": "Methods" }) };
  root = h("div", { class: "stack" },
    heading("Which method suits this table?", "Every method with its usual settings, on the same sample, attacked the same way."),
    h("section", { class: "card", "aria-label": "Comparison" }, parts.action, parts.plot), parts.table);
  parts.draw = tradeoff(parts.plot, () => rows().filter((one) => one.residual !== null).map((one) => ({
    x: Math.min(one.residual, 2), y: 1 - one.excess, chosen: one.settings.method === state.settings.method, label: method(one.settings.method).name,
  })), 380);
  requestAnimationFrame(fill);
  return root;
}

const rows = () => state.compared?.rows ?? [];

function fill() {
  const { compared } = state;
  parts.action.replaceChildren(...(compared?.busy
    ? [progress(`Trying ${compared.trying ? method(compared.trying).name : ""} (${compared.done} of ${compared.of})`, compared.of ? compared.done / compared.of : null), h("button", { type: "button", onclick: () => running?.abort() }, "Stop")]
    : [h("button", { type: "button", class: "primary", onclick: run }, compared ? "Compare again" : "Compare all methods"),
      h("p", { class: "muted" }, compared ? "Upper right is better." : "It takes about a minute; results appear as they come.")]));
  parts.plot.hidden = !rows().length;
  if (rows().length) parts.draw();
  if (!compared) {
    parts.table.replaceChildren(h("p", { class: "empty" }, "Nothing compared yet."));
    return;
  }
  const order = [...rows()].sort((a, b) => a.grade.localeCompare(b.grade) || a.excess - b.excess);
  parts.table.replaceChildren(h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Methods" }, h("table", { class: "compare" },
    h("thead", {}, h("tr", {}, ["Method", "Grade", "Rows moved beyond a re-run", "Hidden (of 1)", "People found", ""].map((text) => h("th", { scope: "col" }, text || h("span", { class: "unseen" }, "Choose"))))),
    h("tbody", {}, order.map((one) => h("tr", { class: one.settings.method === state.settings.method ? "chosen" : "" },
      h("th", { scope: "row" }, h("span", { class: "name" }, method(one.settings.method).name), h("span", { class: "why" }, one.verdict)),
      h("td", {}, gradeBadge(one.grade, "small")),
      h("td", {}, percent(one.excess)), h("td", {}, decimal(one.residual)), h("td", {}, percent(one.linked)),
      h("td", {}, h("button", { type: "button", "aria-label": `Use ${method(one.settings.method).name}`, onclick: () => { change({ settings: one.settings }); go("results"); } }, "Use it")))),
    refusals(compared.refused).map(([reason, names]) => h("tr", {}, h("th", { scope: "row" }, names.join(", ")), h("td", { colspan: 5, class: "muted" }, reason)))))),
  h("p", { class: "muted" }, "Rows moved: less is better. Hidden: more is better. People found: less is better."));
}

// Methods that refuse the table for the same reason share a line: [[reason, names], ...].
function refusals(refused) {
  const found = new Map();
  for (const one of refused) {
    const reason = `${sentence(one.error)}${one.hint ? ` ${sentence(one.hint)}` : ""}`;
    found.set(reason, [...(found.get(reason) ?? []), method(one.method).name]);
  }
  return [...found];
}

async function run() {
  running = new AbortController();
  const compared = { rows: [], refused: [], busy: true, done: 0, of: 0, trying: null };
  change({ compared });
  try {
    await lines("/api/compare", { dataset: state.dataset.id }, running.signal, (item) => {
      if (item.type === "compared") compared.rows.push(item);
      else if (item.type === "refused") compared.refused.push(item);
      else Object.assign(compared, { done: item.done, of: item.of, trying: item.method });
      change({ compared });
    });
  } catch (problem) {
    tell(problem);
  }
  change({ compared: { ...compared, busy: false } });
}
