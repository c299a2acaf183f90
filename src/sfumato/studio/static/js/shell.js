// What every step may do with the page around it: go to another step, and tell a problem.

import { h } from "./dom.js";

export function go(id) {
  location.hash = id;
}

export function tell(problem) {
  if (problem?.name === "AbortError") return;
  const banner = document.getElementById("banner");
  banner.replaceChildren();
  if (!problem) return;
  banner.append(h("div", { class: "problem" },
    h("p", {}, h("strong", {}, sentence(problem.message)), problem.hint ? ` ${sentence(problem.hint)}` : ""),
    problem.status === 409 && h("button", { type: "button", onclick: () => location.reload() }, "Reload"),
    h("button", { type: "button", class: "quiet", onclick: () => tell(null) }, "Close")));
}

export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

// The heading of a step takes the focus when the step opens, so that the keyboard and screen readers follow.
export function heading(title, lead) {
  return h("header", { class: "lead" }, h("h1", { tabindex: "-1" }, title), lead && h("p", {}, lead));
}

export function next(id, text, disabled = false) {
  return h("p", { class: "next" }, h("button", { type: "button", class: "primary", disabled, onclick: () => go(id) }, text));
}
