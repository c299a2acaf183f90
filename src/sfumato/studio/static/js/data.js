// Step 1: choose or drop a file, watch it arrive, or begin with the demo table.

import { post, upload } from "./api.js";
import { h, progress } from "./dom.js";
import { bytes, count, plural } from "./format.js";
import { change, listen, state } from "./state.js";
import { go, heading, next, tell } from "./shell.js";

let place = null;
let sending = null; // { name, size, sent, cancel }

listen(["loading", "dataset"], () => { if (place?.isConnected) fill(); });

export function draw() {
  place = h("div", { class: "stack" });
  fill();
  return place;
}

let shown = "";

function fill() {
  const now = JSON.stringify([sending, state.loading, state.dataset?.id]);
  if (place.childElementCount && now === shown) return; // drawing again would take the focus away
  shown = now;
  const busy = sending || state.loading;
  place.replaceChildren(
    heading(state.dataset ? "Your table" : "Hand out a table, keep its people private",
      "Choose a table of people. sfumato blurs every record, keeps the clusters, and attacks the result before anyone else does."),
    busy ? arriving() : chooser(), state.dataset && !busy ? loaded() : promises());
}

function chooser() {
  const input = h("input", { type: "file", id: "choose", class: "unseen", accept: state.session.endings.join(","),
    onchange: () => input.files.length && send(input.files[0]) });
  const zone = h("label", { class: "drop", for: "choose" }, input,
    h("span", { class: "drop-title" }, state.dataset ? "Choose another file" : "Choose a file, or drop it here"),
    h("span", {}, `CSV, Parquet or Feather, gzip too, up to ${bytes(state.session.most_bytes)}. It stays on this computer.`));
  for (const [name, inside] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.toggle("over", inside);
      if (name === "drop" && event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
    });
  }
  return h("section", { class: "card", "aria-label": "Choose a table" }, zone,
    h("p", { class: "or" }, "No table at hand? ",
      h("button", { type: "button", class: "link", onclick: demo }, "Use the demo table"),
      ": customers of a bank that does not exist."));
}

function arriving() {
  if (sending) {
    const { name, size, sent, cancel } = sending;
    const what = sent < size ? `${name}: ${bytes(sent)} of ${bytes(size)}` : `${name} has arrived; ${state.loading?.what ?? "reading it"} …`;
    return h("section", { class: "card" }, progress(what, sent < size ? sent / size : state.loading?.share),
      sent < size && h("button", { type: "button", onclick: cancel }, "Cancel"));
  }
  return h("section", { class: "card" }, progress(`Reading: ${state.loading.what} …`, state.loading.share));
}

function loaded() {
  const { dataset } = state;
  const missing = dataset.columns.reduce((sum, column) => sum + column.missing, 0);
  return h("section", { class: "card" },
    h("h2", {}, dataset.label),
    h("dl", { class: "facts" },
      fact("Rows", count(dataset.rows)), fact("Columns", count(dataset.columns.length)),
      fact("Missing cells", count(missing)), fact("Rows in live previews", count(dataset.sample))),
    h("p", { class: "muted" }, dataset.sample < dataset.rows
      ? `Previews use ${count(dataset.sample)} rows drawn at random; the release covers all ${plural(dataset.rows, "row")}.`
      : "Previews use all rows."),
    next("columns", "Next: columns"));
}

const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

function promises() {
  return h("ul", { class: "promises" },
    h("li", {}, h("h2", {}, "Nothing leaves this computer"), h("p", {}, "The page talks to 127.0.0.1 only. Files are kept in a folder that only you can read, and removed when the studio closes.")),
    h("li", {}, h("h2", {}, "See before you trust"), h("p", {}, "Move a slider and watch: do the clusters stay, and what does an attacker get?")),
    h("li", {}, h("h2", {}, "One command to repeat it"), h("p", {}, "Every release comes with its policy file and the command line that makes the same file again.")));
}

async function send(file) {
  tell(null);
  if (file.size > state.session.most_bytes) {
    tell({ message: `The file is larger than ${bytes(state.session.most_bytes)}, the most that can be uploaded`, hint: "Start the studio with the file’s name instead: sfumato studio FILE" });
    return;
  }
  const { done, cancel } = upload(file, (sent) => { sending = { ...sending, sent }; fill(); });
  sending = { name: file.name, size: file.size, sent: 0, cancel };
  fill();
  await take(done);
}

async function demo() {
  tell(null);
  await take(post("/api/demo"));
}

async function take(answer) {
  try {
    const dataset = await answer;
    sending = null;
    if (state.dataset?.id === dataset.id) { // the news of it came first, and its owner may have changed it since
      fill();
      if (document.getElementById("main").dataset.step === "data") go("columns");
      return;
    }
    const settings = { method: dataset.default_method, parameters: {}, extras: {} };
    change({ axes: null, before: null, result: null, compared: null, settings, dataset });
    go("columns");
  } catch (problem) {
    sending = null;
    tell(problem);
    fill();
  }
}
