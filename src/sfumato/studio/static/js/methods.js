// Step 3: the methods as cards, straight from the catalogue: what each does, and who breaks it.

import { h } from "./dom.js";
import { plural } from "./format.js";
import { change, confidential, state } from "./state.js";
import { go, heading } from "./shell.js";

export function draw() {
  return h("div", { class: "stack" },
    heading("How should it be blurred?", "Each method says who breaks it. That is measured, not promised: “none known” is not “safe”."),
    state.dataset.others.length > 0 && h("p", { class: "muted" }, `${plural(state.dataset.others.length, "column")} to protect hold other values than numbers. Atom exchange takes them; the other methods take numbers only.`),
    h("ul", { class: "cards" }, [...state.session.methods].filter((one) => !one.wraps).sort((a, b) => recommended(b) - recommended(a)).map(card)));
}

const recommended = (one) => Number(one.id === state.dataset.default_method);
const refuses = (one) => state.dataset.others.length > 0 && !one.takes_every_kind;

function card(one) {
  const chosen = one.id === state.settings.method;
  return h("li", { class: `card method ${chosen ? "chosen" : ""}` },
    h("div", { class: "row" }, h("h2", {}, one.name),
      recommended(one) === 1 && h("span", { class: "tag good" }, "recommended")),
    h("p", {}, one.summary),
    h("h3", {}, "Who breaks it"),
    breaks(one),
    h("ul", { class: "tags" }, facts(one).map((text) => h("li", { class: "tag" }, text))),
    h("p", { class: "source" }, `${one.paper} · id ${one.id}`),
    h("button", { type: "button", class: chosen ? "primary" : "", "aria-label": `${chosen ? "See" : "Use"} ${one.name}`,
      disabled: refuses(one) && !chosen, onclick: () => {
        if (!chosen) change({ settings: { method: one.id, parameters: {}, extras: {} } });
        go("results");
      } }, chosen ? "See the results" : refuses(one) ? "Takes numbers only" : "Use it"));
}

function breaks(one) {
  if (!one.breaks.length) return h("p", { class: "muted" }, "No attack of ours.");
  const shown = one.breaks.slice(0, 2).map((item) => h("li", {}, h("strong", {}, `Knowing ${cost(item.cost)}: `), `${item.name}${item.when}`));
  const more = one.breaks.length - shown.length;
  return h("ul", { class: "breaks" }, shown, more > 0 && h("li", { class: "muted" }, `and ${more} more`));
}

// "3d + 6 records" with the number of columns to protect in place of d
function cost(text) {
  const columns = confidential().length;
  return text.replace(/(\d*)d \+ (\d+)/, (_, times, more) => String((times || 1) * columns + Number(more)));
}

function facts(one) {
  return [
    one.takes_every_kind ? "every kind of column" : "numbers only",
    one.invertible && "you can undo it with the key",
    one.keeps_distances && "keeps distances",
    !one.same_columns && "makes new columns",
    one.tier === "row" ? "any size of table" : "table must fit in memory",
  ].filter(Boolean);
}
