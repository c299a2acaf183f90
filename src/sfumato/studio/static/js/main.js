// The page: six steps, one of them shown; the header, and news from the server.

import { events, get } from "./api.js";
import { announce, h } from "./dom.js";
import { count } from "./format.js";
import { change, listen, state } from "./state.js";
import { startLive } from "./live.js";
import { go, tell } from "./shell.js";
import * as columns from "./columns.js";
import * as compare from "./compare.js";
import * as data from "./data.js";
import * as methods from "./methods.js";
import * as release from "./release.js";
import * as results from "./results.js";

const STEPS = [
  { id: "data", title: "Data", draw: data.draw, open: () => true },
  { id: "columns", title: "Columns", draw: columns.draw, open: () => state.dataset },
  { id: "method", title: "Method", draw: methods.draw, open: () => state.dataset },
  { id: "results", title: "Results", draw: results.draw, open: () => state.dataset },
  { id: "compare", title: "Compare", draw: compare.draw, open: () => state.dataset },
  { id: "release", title: "Release", draw: release.draw, open: () => state.dataset },
];

function show() {
  const wanted = STEPS.find((step) => `#${step.id}` === location.hash);
  const step = wanted && wanted.open() ? wanted : STEPS[0];
  const main = document.getElementById("main");
  main.dataset.step = step.id;
  main.replaceChildren(step.draw());
  drawSteps(step);
  document.title = `${step.title} · sfumato studio`;
  window.scrollTo(0, 0);
  main.querySelector("h1")?.focus({ preventScroll: true });
}

function drawSteps(current) {
  const list = document.getElementById("steps");
  list.replaceChildren(...STEPS.map((step, i) => {
    const open = Boolean(step.open());
    return h("li", {}, h("a", {
      href: open ? `#${step.id}` : null, "aria-current": step === current ? "step" : null,
      "aria-disabled": open ? null : "true", role: open ? null : "link",
    }, h("span", { class: "number", "aria-hidden": "true" }, i + 1), step.title));
  }));
}

function drawHeader() {
  const { dataset } = state;
  document.getElementById("file").textContent = dataset
    ? `${dataset.label} · ${count(dataset.rows)} rows × ${count(dataset.columns.length)} columns` : "";
}

function hearNews() {
  events("/api/events", async (news) => {
    if (news.problem) tell(Object.assign(new Error(news.problem.error), news.problem));
    change({ loading: news.loading, job: news.job });
    if (news.job) announce(`Release ${news.job.status}`);
    // a file named in the terminal has been read; another tab's table does not replace this one's
    if (news.dataset && !state.dataset) {
      const session = await get("/api/session");
      if (state.dataset) return; // the answer to this tab's own loading was quicker, and its owner may have gone on
      change({ dataset: session.dataset, settings: usual(session.dataset.default_method) });
      go("columns");
    }
  });
}

const usual = (method) => ({ method, parameters: {}, extras: {} });

async function start() {
  try {
    const session = await get("/api/session");
    const { dataset, job } = session;
    const last = dataset?.tried.at(-1);
    change({ session, dataset, job, settings: last?.settings ?? usual(dataset?.default_method ?? session.default_method) });
  } catch (problem) {
    document.getElementById("main").replaceChildren(h("p", { class: "waiting" }, "The studio does not answer. Is it still running in the terminal?"));
    tell(problem);
    return;
  }
  listen(["dataset"], drawHeader);
  drawHeader();
  startLive();
  window.addEventListener("hashchange", show);
  show();
  hearNews();
  document.documentElement.dataset.ready = "true";
}

start();
