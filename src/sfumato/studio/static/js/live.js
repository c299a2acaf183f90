// Live previews: a moment after the last change one request runs, and an older one is aborted.

import { lines, post, unpackBytes, unpackFloats } from "./api.js";
import { announce } from "./dom.js";
import { GRADES } from "./format.js";
import { change, confidential, listen, sameSettings, state } from "./state.js";
import { tell } from "./shell.js";

const PAUSE = 150; // a slider that still moves asks for nothing
let timer = null;
let running = null;
let seen = null; // what the picture of the original was last asked for

export function startLive() {
  listen(["settings", "dataset"], () => later(false));
  listen(["axes"], () => later(true));
  listen(["k"], drawBefore);
  if (state.dataset) later(false);
}

function later(pictureOnly) {
  clearTimeout(timer);
  if (!state.dataset || !confidential().length) {
    running?.abort();
    seen = null;
    change({ result: null, before: null });
    return;
  }
  timer = setTimeout(() => refresh(pictureOnly), PAUSE);
}

export const again = () => refresh(false);

async function refresh(pictureOnly) {
  running?.abort();
  const control = new AbortController();
  running = control;
  const result = pictureOnly && state.result?.verdict
    ? { ...state.result, busy: true }
    : { settings: state.settings, clusters: {}, attacks: [], notes: [], histograms: state.result?.histograms,
        rows: state.result?.rows, after: state.result?.after, done: 0, of: 0, verdict: null, busy: true };
  change({ result });
  try {
    drawBefore();
    await lines("/api/preview", {
      dataset: state.dataset.id, settings: state.settings, axes: state.axes, k: state.k,
      picture_only: Boolean(pictureOnly && result.verdict),
    }, control.signal, (item) => { if (control === running) take(result, item); });
    if (control === running) change({ result: { ...result, busy: false } });
  } catch (problem) {
    if (problem.name === "AbortError" || control !== running) return;
    change({ result: { ...result, busy: false, failed: problem } });
    if (problem.status === 409 || problem.status === 0) tell(problem);
  }
}

const TAKE = {
  scatter: (result, item) => { result.after = { points: unpackFloats(item.points), range: item.range, same: item.same_axes, colours: colours(item.labels) }; },
  clusters: (result, item) => { result.clusters[item.k] = item; if (item.labels) result.after = { ...result.after, colours: { ...result.after.colours, ...colours(item.labels) } }; },
  price: (result, item) => { result.price = item; state.dataset.prices = { ...state.dataset.prices, [item.epsilon]: item }; },
  notes: (result, item) => { result.notes = item.notes; },
  histograms: (result, item) => { result.histograms = item.columns; },
  rows: (result, item) => { result.rows = item; },
  attack: (result, item) => { result.attacks.push(item); result.done = item.done; result.of = item.of; },
  verdict: (result, item) => {
    result.verdict = item;
    const others = state.dataset.tried.filter((one) => !sameSettings(one.settings, item.settings));
    state.dataset.tried = [...others, item];
    announce(`Grade ${item.grade}: ${GRADES[item.grade]}. ${item.verdict}`);
  },
};

// rows that belong to nobody have clusters of their own: the nearest of the original, for each number of clusters
const colours = (labels) => labels && Object.fromEntries(Object.entries(labels).map(([k, packed]) => [k, unpackBytes(packed)]));

function take(result, item) {
  TAKE[item.type](result, item);
  change({ result });
}

// The original's picture changes with the table, the axes and the number of clusters only.
async function drawBefore() {
  if (!state.dataset || !confidential().length) return;
  const wanted = JSON.stringify([state.dataset.id, confidential().map((one) => [one.name, one.kind, one.order]), state.axes, state.k]);
  if (seen === wanted) return;
  seen = wanted;
  try {
    const found = await post("/api/before", { dataset: state.dataset.id, axes: state.axes, k: state.k });
    if (seen !== wanted) return;
    change({ before: { points: unpackFloats(found.points), range: found.range, labels: unpackBytes(found.labels) } });
  } catch (problem) {
    if (seen === wanted) seen = null;
    if (problem.status === 409 || problem.status === 0) tell(problem);
  }
}
