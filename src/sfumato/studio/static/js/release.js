// Step 6: release every row in the background, then download it; the key stays where it is.

import { download, post } from "./api.js";
import { copyButton, gradeBadge, h, progress } from "./dom.js";
import { bytes, plural } from "./format.js";
import { confidential, listen, state } from "./state.js";
import { describe } from "./results.js";
import { heading, next, sentence, tell } from "./shell.js";

let root = null;

listen(["job"], () => { if (root?.isConnected) fill(); });

export function draw() {
  root = h("div", { class: "stack" });
  fill();
  return root;
}

function fill() {
  const { job } = state;
  root.replaceChildren(heading("Release", "The whole table, with the settings you chose. It runs in the background: you may close this page and come back."),
    plan(), job ? progressOf(job) : "");
}

function plan() {
  const { dataset, job } = state;
  const names = (role) => dataset.columns.filter((column) => column.role === role).map((column) => column.name);
  const line = (title, list) => h("div", {}, h("dt", {}, title), h("dd", {}, list.length ? list.join(", ") : "none"));
  const running = job?.status === "running";
  if (!confidential().length) return h("section", { class: "card" }, h("p", {}, "No column is confidential: there is nothing to protect."), next("columns", "Choose columns"));
  return h("section", { class: "card", "aria-label": "What will be released" },
    h("dl", { class: "plan" }, line(`Blurred with ${describe(state.settings)}`, names("confidential")), line("Released as they are", names("keep")), line("Left out", names("identifier"))),
    h("button", { type: "button", class: "primary", disabled: running, onclick: start }, `Release ${plural(dataset.rows, "row")}`));
}

function progressOf(job) {
  const body = { running: doing, done, failed, cancelled }[job.status];
  return h("section", { class: "card", "aria-label": "Release", "data-status": job.status }, body(job));
}

const doing = (job) => [h("h2", {}, `Releasing ${job.label}`), progress(`${job.what} …`, job.share), h("button", { type: "button", onclick: cancel }, "Cancel")];

const failed = (job) => [h("h2", {}, "The release did not work"), h("p", {}, sentence(job.error)), job.hint && h("p", { class: "muted" }, sentence(job.hint)), h("p", { class: "muted" }, "Nothing was released.")];

const cancelled = () => [h("h2", {}, "Cancelled"), h("p", {}, "Nothing was released, and nothing is left behind.")];

function done(job) {
  return [
    h("h2", {}, "Released"),
    h("p", {}, `${plural(job.rows, "row")} of ${job.label}. Download the files now: the studio removes them when it closes.`),
    h("ul", { class: "downloads" }, job.files.map((file) => h("li", {},
      h("a", {
        href: `/api/download/${file.kind}`, download: file.label, class: file.kind === "release" ? "button primary" : "button",
        onclick: (event) => { event.preventDefault(); download(`/api/download/${file.kind}`, file.label).catch(tell); },
      }, file.title),
      h("span", {}, h("span", { class: "name" }, file.label), h("span", { class: "why" }, `${bytes(file.bytes)} · ${file.about}`))))),
    audit(job.audit),
    job.notes?.length ? h("ul", { class: "notes" }, job.notes.map((text) => h("li", {}, text))) : null,
    h("h3", {}, "The key stays with you"),
    h("p", { class: "muted" }, "Whoever holds it can repeat the release, and undo it where the method allows. It is not downloaded; it stands here, and only you can read it:"),
    h("div", { class: "copy" }, h("code", { id: "key-path" }, job.key_path), copyButton(job.key_path, "the path of the key")),
    h("h3", {}, "The same again"),
    h("p", { class: "muted" }, "This command makes the same file, byte for byte, from your original and the policy file:"),
    h("div", { class: "copy" }, h("code", { id: "command" }, job.command), copyButton(job.command, "the command")),
  ];
}

// The released file itself is attacked while it can already be downloaded.
function audit(found) {
  if (!found) return null;
  if (found.grade) return h("div", { class: "verdict" }, gradeBadge(found.grade), h("p", { class: "sentence" }, found.verdict));
  if (found.failed) return h("p", { class: "muted" }, `The audit did not work: ${found.failed}.`);
  return progress(`Auditing the released file: ${found.what} …`, found.share);
}

async function start() {
  tell(null);
  try {
    await post("/api/release", { dataset: state.dataset.id, settings: state.settings });
  } catch (problem) {
    tell(problem);
  }
}

async function cancel() {
  await post("/api/release/cancel").catch(tell);
}
