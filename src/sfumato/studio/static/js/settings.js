// The controls of the chosen method, drawn from the catalogue alone.

import { h, select } from "./dom.js";
import { short } from "./format.js";
import { change, method, state } from "./state.js";

const STEPS = 200; // of a slider, so that an arrow key is a small but visible step

const mixed = () => state.dataset.others.length > 0;

export function settingsRail() {
  const rail = h("section", { class: "card rail", "aria-label": "Method and settings" });
  const draw = () => rail.replaceChildren(
    h("h2", {}, "Settings"),
    select("Method", state.session.methods.filter((one) => !one.wraps).map((one) => [one.id, mixed() && !one.takes_every_kind ? `${one.name} (numbers only)` : one.name]), state.settings.method, (id) => {
      change({ settings: { method: id, parameters: {}, extras: {} } });
      draw();
    }, { id: "method" }),
    h("p", { class: "muted" }, method(state.settings.method).summary),
    controls(method(state.settings.method), state.settings.parameters, (parameters) => change({ settings: { ...state.settings, parameters } })),
    ...state.session.methods.filter((one) => one.wraps && method(state.settings.method).same_columns && !mixed()).map((one) => extra(one, draw)));
  draw();
  rail.redraw = draw;
  return rail;
}

function extra(one, redraw) {
  const on = one.id in state.settings.extras;
  const box = h("input", { type: "checkbox", onchange: () => {
    const extras = { ...state.settings.extras };
    if (on) delete extras[one.id]; else extras[one.id] = {};
    change({ settings: { ...state.settings, extras } });
    redraw();
  } });
  box.checked = on;
  return h("div", { class: "extra" }, h("label", { class: "check" }, box, h("span", {}, h("strong", {}, `On top: ${one.name}`), h("br"), one.summary)),
    on && controls(one, state.settings.extras[one.id], (parameters) =>
      change({ settings: { ...state.settings, extras: { ...state.settings.extras, [one.id]: parameters } } })));
}

function controls(one, values, onchange) {
  // a default that was set by hand is the default: settings that are the same look the same
  const set = (parameter, value) => {
    const { [parameter.name]: _, ...rest } = values;
    values = value === parameter.default ? rest : { ...rest, [parameter.name]: value };
    onchange(values);
  };
  return h("div", { class: "controls" }, one.parameters.map((parameter) => {
    const value = parameter.name in values ? values[parameter.name] : parameter.default;
    const help = h("p", { class: "help", id: `help-${one.id}-${parameter.name}` }, parameter.help);
    return h("div", { class: "control" }, KINDS[parameter.control](parameter, value, (next) => set(parameter, next), help.id), help);
  }));
}

const KINDS = { slider, number, choice, flag, names, fixed };

// A field for any allowed value; the slider beside it has the values worth trying.
function number(parameter, value, set, help, follow = () => {}) {
  const field = h("input", { type: "number", step: parameter.whole ? 1 : "any", placeholder: "auto", "aria-label": `${parameter.label}, as a number`, "aria-describedby": help, title: parameter.allowed,
    onchange: () => {
      if (field.value === "" && !parameter.optional) { field.value = value; return; }
      value = field.value === "" ? null : Number(field.value);
      follow(value);
      set(value);
    } });
  field.value = value ?? "";
  return [h("div", { class: "row" }, h("span", { class: "label" }, parameter.label), field)];
}

function slider(parameter, value, set, help) {
  const { low, high, log, whole } = parameter;
  const toPlace = (amount) => STEPS * (log ? Math.log(amount / low) / Math.log(high / low) : (amount - low) / (high - low));
  const toAmount = (place) => {
    const amount = log ? low * (high / low) ** (place / STEPS) : low + (high - low) * place / STEPS;
    return whole ? Math.round(amount) : Number(short(amount));
  };
  const range = h("input", { type: "range", min: 0, max: STEPS, "aria-label": parameter.label, "aria-describedby": help });
  const follow = (amount) => {
    range.value = amount === null ? 0 : toPlace(Math.min(Math.max(amount, low), high));
    range.setAttribute("aria-valuetext", amount === null ? "automatic" : short(amount));
  };
  const row = number(parameter, value, set, help, follow);
  range.addEventListener("input", () => {
    const amount = toAmount(Number(range.value));
    row[0].querySelector("input").value = amount;
    range.setAttribute("aria-valuetext", short(amount));
    set(amount);
  });
  follow(value);
  return [...row, range];
}

function choice(parameter, value, set, help) {
  const choices = parameter.choices.map((one) => [one, one]);
  if (parameter.optional) choices.unshift(["", "none"]);
  return select(parameter.label, choices, value ?? "", (next) => set(next === "" ? null : next), { "aria-describedby": help });
}

function flag(parameter, value, set, help) {
  const box = h("input", { type: "checkbox", "aria-describedby": help, onchange: () => set(box.checked) });
  box.checked = value;
  return h("label", { class: "check" }, box, h("span", {}, parameter.label));
}

// Some names and whole numbers with commas between them.
function names(parameter, value, set, help) {
  const field = h("input", { type: "text", "aria-label": parameter.label, "aria-describedby": help, title: parameter.allowed,
    onchange: () => {
      const given = field.value.split(",").map((one) => one.trim()).filter((one) => one !== "").map((one) => /^\d+$/.test(one) ? Number(one) : one);
      if (given.length === 0 || (given.length === 1 && given[0] === parameter.default)) { field.value = parameter.default; set(parameter.default); return; }
      set(given);
    } });
  field.value = Array.isArray(value) ? value.join(", ") : value;
  return [h("div", { class: "row" }, h("span", { class: "label" }, parameter.label), field)];
}

function fixed(parameter) {
  return h("div", { class: "row" }, h("span", { class: "label" }, parameter.label), h("span", { class: "muted" }, parameter.text));
}
