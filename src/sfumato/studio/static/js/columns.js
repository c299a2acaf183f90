// Step 2: what each column is, the guessed role and why; one select a column.

import { post } from "./api.js";
import { h, option } from "./dom.js";
import { count, percent, plural } from "./format.js";
import { change, confidential, state } from "./state.js";
import { heading, next, tell } from "./shell.js";

const ROLE_HELP = [
  ["confidential", "Confidential: blurred, row by row."],
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
      `${count(dataset.columns.filter((one) => one.role === role).length)} ${role}`);
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
      h("div", { class: "scroll", tabindex: dataset.columns.length > FILTER_FROM ? "0" : null, role: "group", "aria-label": "Columns" },
        h("table", { class: "columns" },
          h("thead", {}, h("tr", {}, ["Column", "Type", "Different values", "Missing", "Role"].map((text) => h("th", { scope: "col" }, text)))),
          rows)), foot));
}

function row(column) {
  const box = h("select", { class: `role-${column.role}`, "aria-label": `Role of ${column.name}`, onchange: () => set(column, box) },
    Object.keys(state.session.roles).map((role) => {
      const made = option(role, role, role === column.role);
      made.disabled = role === "confidential" && !column.numeric;
      return made;
    }));
  return h("tr", { "data-name": column.name.toLowerCase() },
    h("th", { scope: "row" }, h("span", { class: "name" }, column.name), h("span", { class: "why" }, column.reason)),
    h("td", { "data-label": "Type" }, column.kind),
    h("td", { "data-label": "Different values" }, column.unique ? "every row another" : `${count(column.distinct)} in the sample`),
    h("td", { "data-label": "Missing" }, column.missing ? `${count(column.missing)} (${percent(column.missing / state.dataset.rows)})` : "none"),
    h("td", { "data-label": "Role" }, box));
}

function filter(rows) {
  return h("label", { class: "field inline" }, h("span", {}, `Find among ${plural(state.dataset.columns.length, "column")}`),
    h("input", { type: "search", oninput: (event) => {
      const text = event.target.value.toLowerCase();
      for (const one of rows.children) one.hidden = !one.dataset.name.includes(text);
    } }));
}

async function set(column, box) {
  const before = column.role;
  try {
    const dataset = await post("/api/roles", { dataset: state.dataset.id, roles: { [column.name]: box.value } });
    column.role = box.value;
    box.className = `role-${box.value}`;
    const { tried } = dataset;
    Object.assign(state.dataset, { tried });
    change({ dataset: state.dataset, axes: null, compared: null });
    box.dispatchEvent(new Event("changed", { bubbles: true }));
  } catch (problem) {
    box.value = before;
    tell(problem);
  }
}
