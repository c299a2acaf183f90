// Step 4: the verdict, the figures, the pictures; everything follows the sliders.

import { gradeBadge, h, progress, select } from "./dom.js";
import { count, decimal, GRADES, percent, plural } from "./format.js";
import { change, confidential, listen, method, sameSettings, state } from "./state.js";
import { again } from "./live.js";
import { bars, sampleRows } from "./columnviews.js";
import { histogram, join, scatter, tradeoff } from "./charts.js";
import { settingsRail } from "./settings.js";
import { heading, next, sentence } from "./shell.js";

let parts = null;
let column = null;

listen(["result", "before", "k", "settings"], () => { if (parts?.root.isConnected) fill(); });

export function draw() {
  const names = confidential().map((one) => one.name);
  if (!names.length) return h("div", { class: "stack" }, heading("Nothing to protect yet"), h("p", {}, "No column is confidential."), next("columns", "Choose columns"));
  if (!names.includes(column)) [column] = names;
  const box = (name, ...children) => h("section", { class: "card", "aria-label": name }, ...children);
  const plotBox = (label) => h("div", { class: "plot", role: "img", "aria-label": label });
  parts = {
    verdict: h("section", { class: "card verdict", "aria-label": "Verdict" }), price: h("section", { class: "card", "aria-label": "What the guarantee costs" }), tiles: h("div", { class: "tiles" }),
    notes: h("div"), clusters: h("tbody"), attacks: h("tbody"), attacksDone: h("div"), tried: h("ul", { class: "tried" }),
    before: plotBox("Scatter plot of the original sample"), after: plotBox("Scatter plot of the perturbed sample on the same axes"),
    histogram: plotBox("Histogram of a column before and after"), tradeoff: plotBox("Settings tried: what they hide against what they keep; the list below has the same figures"),
    bars: h("div"), rows: h("div"), seen: {}, rail: settingsRail(), afterNote: h("span", { class: "muted" }),
  };
  parts.root = h("div", { class: "stack" },
    heading("What happens to the clusters, and what does an attacker get?"),
    h("div", { class: "workspace" },
      h("div", { class: "stack first" }, parts.verdict, parts.price, parts.tiles,
        box("Before and after", pictureControls(names),
          h("div", { class: "pair" },
            h("figure", {}, h("figcaption", {}, h("strong", {}, "Before"), " ", h("span", { class: "muted" }, `${count(state.dataset.sample)} rows`)), parts.before),
            h("figure", {}, h("figcaption", {}, h("strong", {}, "After"), " ", parts.afterNote), parts.after))), parts.notes),
      parts.rail,
      h("div", { class: "stack rest" },
        h("div", { class: "pair" },
          box("Clusters", h("h2", {}, "Do the clusters stay?"), h("p", { class: "muted" }, "Rows that a miner’s k-means puts into another cluster; less is better. Running it again on the original moves some too."),
            h("table", {}, h("thead", {}, h("tr", {}, ["Clusters", "Moved", "Original re-run", "Agreement (ARI)"].map((text) => h("th", { scope: "col" }, text)))), parts.clusters)),
          box("Columns", h("h2", {}, "One column"), select("Column", names.map((name) => [name, name]), column, (name) => { column = name; fill(); }, { id: "histogram-column" }),
            h("p", { class: "legend muted" }, h("span", { class: "swatch before" }), "before", h("span", { class: "swatch after" }), "after"), parts.histogram, parts.bars)),
        box("Rows of the release", h("h2", {}, "Rows of the release"), h("p", { class: "muted" }, "Some of them, in no order, as a reader will see them: released values only."), parts.rows),
        box("Attacks", h("h2", {}, "What do attackers get?"), h("p", { class: "muted" }, "Share of people whose record is recovered or found, worst first; less is better. Guessing gets something too."),
          parts.attacksDone, h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Attacks" },
            h("table", { class: "attacks" }, h("thead", {}, h("tr", {}, ["Attack", "Attacker knows", "Gets", "Guessing gets"].map((text) => h("th", { scope: "col" }, text)))), parts.attacks))),
        box("Settings tried", h("h2", {}, "Settings tried"), h("p", { class: "muted" }, "Upper right is better. Choose one to go back to it."), parts.tradeoff, parts.tried),
        next("release", "Next: release"))));
  parts.draw = {
    before: scatter(parts.before, () => state.before && ({ ...state.before, range: ranges(), names: axisNames() })),
    after: scatter(parts.after, () => state.before && state.result?.after && ({ ...state.result.after, labels: state.result.after.colours?.[state.k] ?? state.before.labels, range: state.result.after.same ? ranges() : state.result.after.range, names: state.result.after.same ? axisNames() : ["new columns", ""] })),
    histogram: histogram(parts.histogram, () => (picture()?.labels ? null : picture())),
    tradeoff: tradeoff(parts.tradeoff, () => points()),
  };
  requestAnimationFrame(fill);
  return parts.root;
}

const picture = () => state.result?.histograms?.find((one) => one.name === column);
const ranges = () => (state.result?.after?.same ? join(state.before.range, state.result.after.range) : state.before.range);
const axisNames = () => state.axes ?? ["first main direction", "second main direction"];

// codes of categories say nothing on an axis
const onAxes = (names) => names.filter((name) => confidential().some((one) => one.name === name && one.numeric && !["category", "ordered", "date"].includes(one.kind)));

function pictureControls(all) {
  const names = onAxes(all);
  const both = names.length > 1 ? names.slice(0, 2) : null;
  const columns = (place) => select(place === 0 ? "Across" : "Up", names.map((name) => [name, name]), state.axes?.[place], (name) => {
    const axes = [...state.axes];
    axes[place] = name;
    change({ axes });
  }, { id: place === 0 ? "axis-x" : "axis-y" });
  const chosen = h("div", { class: "row" });
  const fillChosen = () => chosen.replaceChildren(...(state.axes ? [columns(0), columns(1)] : []));
  fillChosen();
  return h("div", { class: "row wrap" }, h("h2", {}, "Before and after"),
    h("div", { class: "row wrap" },
      select("Axes", [["main", "main directions"], ...(both ? [["columns", "two columns"]] : [])], state.axes ? "columns" : "main", (value) => {
        change({ axes: value === "main" ? null : both });
        fillChosen();
      }, { id: "axes" }), chosen,
      select("Clusters", state.session.clusters.map((k) => [String(k), String(k)]), String(state.k), (k) => change({ k: Number(k) }), { id: "k" })));
}

function fill() {
  const { result, before } = state;
  fillVerdict(result);
  fillPrice(result);
  fillTiles(result);
  parts.notes.replaceChildren(...(result?.notes?.length ? [h("ul", { class: "notes" }, result.notes.map((text) => h("li", {}, text)))] : []));
  // thousands of points: painted when they change, not with every attack that comes in
  if (before && changed("before", before, result?.after)) parts.draw.before();
  if (before && result?.after && changed("after", result.after, before)) parts.draw.after();
  parts.afterNote.textContent = result?.after ? (result.after.colours ? "new rows, same axes, the colour of the nearest cluster" : result.after.same ? "same axes, same colours" : "new columns, axes of their own") : "";
  if (result?.histograms?.length && changed("histogram", result.histograms, column)) {
    const shown = picture();
    parts.histogram.hidden = Boolean(shown?.labels);
    parts.bars.replaceChildren(...(shown?.labels ? [bars(shown)] : []));
    parts.draw.histogram();
  }
  if (result?.rows && changed("rows", result.rows)) parts.rows.replaceChildren(sampleRows(result.rows));
  fillClusters(result);
  fillAttacks(result);
  fillTried();
}

function changed(name, ...values) {
  const before = parts.seen[name];
  parts.seen[name] = values;
  return !before || values.some((value, i) => value !== before[i]);
}

function fillVerdict(result) {
  const scope = state.dataset.sample < state.dataset.rows
    ? `Preview on ${count(state.dataset.sample)} of ${plural(state.dataset.rows, "row")}.` : `Preview on all ${plural(state.dataset.rows, "row")}.`;
  if (result?.failed) {
    parts.verdict.replaceChildren(h("div", {}, h("p", { class: "sentence" }, sentence(result.failed.message)), h("p", { class: "muted" }, sentence(result.failed.hint || "Try another setting")),
      h("button", { type: "button", onclick: again }, "Try again")));
  } else if (result?.verdict) {
    const { grade, verdict } = result.verdict;
    parts.verdict.replaceChildren(gradeBadge(grade),
      h("div", {}, h("p", { class: "sentence" }, verdict), h("p", { class: "muted" }, `Grade ${grade} of A to F: ${GRADES[grade]}. ${scope}`)));
  } else {
    parts.verdict.replaceChildren(h("span", { class: "grade waiting", "aria-hidden": "true" }, "…"),
      h("div", {}, h("p", { class: "sentence" }, result?.of ? "Attacking the result …" : "Perturbing the sample …"), progress(result?.of ? `${result.done} of ${result.of} attacks done. ${scope}` : scope, result?.of ? result.done / result.of : null)));
  }
}

// Rows that belong to nobody come with a guarantee: what it promises, and what it costs, at every step of the slider.
function fillPrice(result) {
  const drawn = method(state.settings.method).draws_rows;
  parts.price.hidden = !drawn || Boolean(result?.failed);
  if (parts.price.hidden) return;
  const price = result?.price;
  const before = Object.fromEntries(state.dataset.tried.filter((one) => one.price).map((one) => [one.price.epsilon, one.price]));
  const tried = Object.values({ ...before, ...state.dataset.prices }).sort((a, b) => a.epsilon - b.epsilon);
  parts.price.replaceChildren(h("h2", {}, "What the guarantee costs"),
    ...(price ? [h("p", {}, price.guarantee), h("p", { class: "sentence" }, price.price)] : [h("p", { class: "muted" }, "Measuring …")]),
    ...(tried.length > 1 ? [h("table", {}, h("thead", {}, h("tr", {}, ["Epsilon tried", "Clusters cost more", "People elsewhere"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, tried.map((one) => h("tr", { class: one.epsilon === price?.epsilon ? "chosen" : "" }, h("th", { scope: "row" }, decimal(one.epsilon, 2)), h("td", {}, percent(Math.max(0, one.cost - 1))), h("td", {}, percent(one.moved))))))] : []),
    ...(price ? [h("p", { class: "muted" }, price.chosen)] : []));
}

function tile(title, value, direction) {
  return h("div", { class: "card tile" }, h("p", { class: "tile-title" }, title), h("p", { class: "tile-value" }, value ?? "…"), h("p", { class: "muted" }, direction));
}

function fillTiles(result) {
  const clusters = result?.clusters?.[state.k];
  const best = (goal) => (result?.attacks ?? []).filter((one) => one.goal === goal && one.rate !== null).sort((a, b) => b.rate - a.rate)[0];
  const [values, links] = [best("values"), best("links")];
  parts.tiles.replaceChildren(
    tile(`Rows that keep their cluster, ${state.k} clusters`, clusters && percent(1 - clusters.misclassified), clusters ? `more is better; original re-run: ${percent(1 - clusters.floor)}` : "more is better"),
    tile("Records the best attack recovers", values && percent(values.rate), `less is better${values ? `; guessing: ${percent(values.guessing)}` : ""}`),
    tile("People found by their full record", links && percent(links.rate), `less is better${links ? `; guessing: ${percent(links.guessing)}` : ""}`),
    tile("Hidden from the best attack", result?.verdict ? decimal(result.verdict.residual) : null, "of 1, median column; more is better"));
}

function fillClusters(result) {
  parts.clusters.replaceChildren(...state.session.clusters.map((k) => {
    const found = result?.clusters?.[k];
    return h("tr", { class: k === state.k ? "chosen" : "" }, h("th", { scope: "row" }, k),
      found ? [h("td", {}, percent(found.misclassified)), h("td", { class: "muted" }, percent(found.floor)), h("td", {}, decimal(found.adjusted_rand, 3))]
        : h("td", { colspan: 3, class: "muted" }, result?.failed ? "–" : "…"));
  }));
}

function fillAttacks(result) {
  const attacks = result?.attacks ?? [];
  const ran = attacks.filter((one) => one.rate !== null).sort((a, b) => (b.lift ?? 0) - (a.lift ?? 0) || b.rate - a.rate);
  const idle = attacks.filter((one) => one.rate === null);
  parts.attacksDone.replaceChildren(...(result && !result.verdict && !result.failed ? [progress(`${result.done} of ${result.of || "…"} attacks done`, result.of ? result.done / result.of : null)] : []));
  parts.attacks.replaceChildren(...ran.map((one) => {
    const meter = h("meter", { min: 0, max: 1, low: 0.2, high: 0.5, optimum: 0, "aria-label": `${percent(one.rate)} recovered` });
    meter.value = one.rate;
    return h("tr", {}, h("th", { scope: "row" }, h("span", { class: "name" }, one.name), h("span", { class: "why" }, one.summary)),
      h("td", {}, one.knows),
      h("td", { class: "meter" }, meter, ` ${percent(one.rate)}`), h("td", { class: "muted" }, percent(one.guessing)));
  }), ...(idle.length && result.verdict ? [h("tr", {}, h("td", { colspan: 4 }, h("details", {}, h("summary", {}, `${plural(idle.length, "attack")} found nothing or did not apply`),
    h("ul", {}, idle.map((one) => h("li", {}, h("strong", {}, one.name), `: ${one.status}${one.reason ? `, ${one.reason}` : ""}`))))))] : []));
}

const tried = () => state.dataset.tried.filter((one) => one.residual !== null);

function points() {
  return tried().map((one) => ({
    x: Math.min(one.residual, 2), y: 1 - one.excess, chosen: sameSettings(one.settings, state.settings), pick: () => goBack(one.settings),
  }));
}

function fillTried() {
  if (!changed("tried", state.dataset.tried, state.settings)) return;
  parts.draw.tradeoff();
  parts.tried.replaceChildren(...[...tried()].reverse().map((one) => {
    const chosen = sameSettings(one.settings, state.settings);
    return h("li", {}, h("button", { type: "button", class: chosen ? "chosen" : "", "aria-pressed": String(chosen), onclick: () => goBack(one.settings) },
    gradeBadge(one.grade, "small"),
    h("span", {}, describe(one.settings)), h("span", { class: "muted" }, `hidden ${decimal(one.residual)} · kept ${percent(1 - one.excess)}`)));
  }));
}

function goBack(settings) {
  change({ settings });
  parts.rail.redraw();
}

export function describe({ method: id, parameters, extras }) {
  const words = (values) => Object.entries(values).map(([name, value]) => `${name.replaceAll("_", " ")} ${value ?? "auto"}`).join(", ");
  const own = words(parameters);
  return [`${method(id).name}${own ? `: ${own}` : ""}`, ...Object.entries(extras).map(([name, values]) => `${method(name).name}${words(values) ? ` ${words(values)}` : ""}`)].join(" + ");
}
