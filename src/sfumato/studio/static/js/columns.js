// Step 2: what each column holds and what becomes of it, guessed with a reason; two selects a column.

import { post } from "./api.js";
import { h, option } from "./dom.js";
import { count, percent, plural } from "./format.js";
import { change, confidential, state } from "./state.js";
import { heading, next, tell } from "./shell.js";

const ROLE_HELP = [
  ["confidential", "Confidential: numbers are blurred, other values exchanged between people alike."],
  ["keep", "Keep: released as it is. Choose it only for what tells nothing about a person."],
  ["identifier", "Identifier: left out of the release."],
];
const FILTER_FROM = 15;

export function draw() {
  const { dataset } = state;
  const rows = h("tbody", {}, dataset.columns.map(row));
  const summary = h("p", { class: "muted", "aria-live": "polite" });
  const foot = h("div");
  const refresh = () => {
    const parts = ["confidential", "keep", "identifier"].map((role) =>
      `${count(state.dataset.columns.filter((one) => one.role === role).length)} ${role}`);
    summary.textContent = parts.join(" · ");
    foot.replaceChildren(next("method", "Next: method", !confidential().length));
  };
  refresh();
  rows.addEventListener("changed", refresh);
  return h("div", { class: "stack" },
    heading("What is in your columns?", "sfumato has guessed. Check the guesses: only you know what tells about a person."),
    h("ul", { class: "keys" }, ROLE_HELP.map(([role, text]) => h("li", { class: `role-${role}` }, text))),
    h("section", { class: "card" },
      h("div", { class: "row" }, summary, dataset.columns.length >= FILTER_FROM && filter(rows)),
      h("div", { class: dataset.columns.length > FILTER_FROM ? "scroll" : null, tabindex: dataset.columns.length > FILTER_FROM ? "0" : null, role: "group", "aria-label": "Columns" },
        h("table", { class: "columns" },
          h("thead", {}, h("tr", {}, ["Column", "Kind", "Different values", "Missing", "Role"].map((text) => h("th", { scope: "col" }, text)))),
          rows)), foot));
}

function row(column) {
  const place = h("tr", { "data-name": column.name.toLowerCase() });
  const draw = () => place.replaceChildren(
    h("th", { scope: "row" }, h("span", { class: "name" }, column.name), h("span", { class: "why" }, why(column))),
    h("td", { "data-label": "Kind" }, kind(column, draw)),
    h("td", { "data-label": "Different values" }, column.unique ? "every row another" : `${count(column.distinct)} in the sample`),
    h("td", { "data-label": "Missing" }, column.missing ? `${count(column.missing)} (${percent(column.missing / state.dataset.rows)})` : "none"),
    h("td", { "data-label": "Role" }, role(column, draw)));
  draw();
  return place;
}

const why = (column) => (column.kind === column.guessed ? column.reason : `you say so; guessed: ${state.session.kinds[column.guessed]}, ${column.reason}`);

// What the column holds: the guess, and what a policy may say instead.
function kind(column, redraw) {
  const choices = [column.guessed, ...column.choices.filter((one) => one !== column.guessed)];
  const box = h("select", { "aria-label": `Kind of ${column.name}`, onchange: () => send("/api/kind", { column: column.name, kind: box.value }, column, redraw) },
    choices.map((one) => option(one, state.session.kinds[one], one === column.kind)));
  return h("div", { class: "kind" }, box, column.kind === "ordered" && order(column, redraw));
}

function order(column, redraw) {
  const field = h("input", { type: "text", "aria-label": `Order of ${column.name}, from the lowest, with commas`, placeholder: "low, middle, high", title: "From the lowest, with commas; empty for the alphabet's order",
    onchange: () => {
      const levels = field.value.split(",").map((one) => one.trim()).filter(Boolean);
      send("/api/kind", { column: column.name, kind: "ordered", order: levels }, column, redraw);
    } });
  field.value = column.order.join(", ");
  return field;
}

function role(column, redraw) {
  const box = h("select", { class: `role-${column.role}`, "aria-label": `Role of ${column.name}`, onchange: () => send("/api/roles", { roles: { [column.name]: box.value } }, column, redraw) },
    Object.keys(state.session.roles).map((one) => {
      const made = option(one, one, one === column.role);
      made.disabled = one === "confidential" && column.kind === "text" && !column.numeric;
      return made;
    }));
  return box;
}

function filter(rows) {
  return h("label", { class: "field inline" }, h("span", {}, `Find among ${plural(state.dataset.columns.length, "column")}`),
    h("input", { type: "search", oninput: (event) => {
      const text = event.target.value.toLowerCase();
      for (const one of rows.children) one.hidden = !one.dataset.name.includes(text);
    } }));
}

let last = Promise.resolve(); // one change after the other: an answer that is overtaken would undo the newer one

async function send(path, what, column, redraw) {
  const focused = document.activeElement?.getAttribute("aria-label");
  const id = state.dataset.id;
  const answer = last.then(() => post(path, { dataset: id, ...what }));
  last = answer.catch(() => {});
  try {
    const dataset = await answer;
    if (state.dataset.id !== id) return; // another table is here by now
    const known = new Map(dataset.columns.map((one) => [one.name, one]));
    for (const one of [column, ...state.dataset.columns]) Object.assign(one, known.get(one.name));
    const { tried, others, sample, default_method: usual } = dataset;
    const was = state.dataset.default_method;
    Object.assign(state.dataset, { tried, others, sample, default_method: usual });
    const patch = { dataset: state.dataset, axes: null, compared: null };
    // whoever has not chosen a method goes with the usual one
    if (usual !== was && state.settings.method === was) patch.settings = { method: usual, parameters: {}, extras: {} };
    change(patch);
  } catch (problem) {
    tell(problem);
  }
  const place = rowOf(column);
  redraw();
  place?.querySelector(`[aria-label="${CSS.escape(focused ?? "")}"]`)?.focus();
  place?.dispatchEvent(new Event("changed", { bubbles: true }));
}

const rowOf = (column) => [...document.querySelectorAll("table.columns tbody tr")].find((one) => one.dataset.name === column.name.toLowerCase());
