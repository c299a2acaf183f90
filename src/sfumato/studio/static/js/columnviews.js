// A column of categories before and after, as bars, and some rows of the release, as a table: text is set as text.

import { h } from "./dom.js";
import { count } from "./format.js";

function bar(share, kind) {
  const made = h("span", { class: `bar ${kind}`, "aria-hidden": "true" });
  made.style.width = `${100 * share}%`;
  return made;
}

export function bars({ name, labels, before, after }) {
  const most = Math.max(1, ...before, ...after);
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `Values of ${name}` }, h("table", { class: "bars" },
    h("thead", {}, h("tr", {}, ["Value", "Rows before", "Rows after"].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, labels.map((label, i) => h("tr", {}, h("th", { scope: "row" }, label),
      h("td", {}, count(before[i]), bar(before[i] / most, "before")), h("td", {}, count(after[i]), bar(after[i] / most, "after")))))));
}

export function sampleRows({ columns, rows }) {
  return h("div", { class: "scroll wide", tabindex: "0", role: "group", "aria-label": "Rows of the release" }, h("table", { class: "cells" },
    h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell === "" ? h("span", { class: "muted" }, "–") : cell)))))));
}
