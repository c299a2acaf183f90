// Talking to the server on this computer.

export class Told extends Error {
  constructor(data, status) {
    super(data.error ?? "the studio does not answer");
    this.hint = data.hint ?? "is it still running in the terminal?";
    this.status = status;
  }
}

async function answer(response) {
  if (response.ok) return response;
  throw new Told(await response.json().catch(() => ({})), response.status);
}

// Cookies go to every port of this computer; what this page has stored goes to its own port only.
const pageHeader = () => ({ "x-sfumato-page": localStorage.getItem("studio-secret") ?? "" });

async function reach(path, options) {
  try {
    const headers = { ...options?.headers, ...pageHeader() };
    return await fetch(path, { credentials: "same-origin", ...options, headers });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Told({}, 0);
  }
}

export async function get(path) {
  return (await answer(await reach(path))).json();
}

export async function post(path, data = {}, signal = undefined) {
  return (await answer(await send(path, data, signal))).json();
}

const send = (path, data, signal) => reach(path, {
  method: "POST", signal, body: JSON.stringify(data), headers: { "content-type": "application/json" },
});

// Calls `each` with every JSON line as it arrives; aborting the signal also stops the work on the server.
export async function lines(path, data, signal, each) {
  const response = await answer(await send(path, data, signal));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let left = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (left + value).split("\n");
    left = parts.pop();
    for (const part of parts) {
      const item = JSON.parse(part);
      if (item.type === "error") throw new Told(item, 422);
      each(item);
    }
  }
}

// Calls `each` with every event, and begins again when the connection breaks off.
export async function events(path, each) {
  for (;;) {
    try {
      const response = await answer(await reach(path));
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let left = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const parts = (left + value).split("\n\n");
        left = parts.pop();
        for (const part of parts) {
          const data = part.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5));
          if (data.length) each(JSON.parse(data.join("\n")));
        }
      }
    } catch (problem) {
      if (problem.status === 403) return; // another studio has this port now
    }
    await new Promise((later) => setTimeout(later, 1000));
  }
}

// A browser downloads without headers of ours: a ticket opens one path once.
export async function download(path, label) {
  const body = new URLSearchParams({ path });
  const ticket = await (await answer(await reach("/api/ticket", { method: "POST", body }))).text();
  const link = document.createElement("a");
  link.href = `${path}?ticket=${encodeURIComponent(ticket)}`;
  link.download = label;
  link.click();
}

// An upload needs XMLHttpRequest: fetch does not tell how many bytes have left.
export function upload(file, onbytes) {
  const request = new XMLHttpRequest();
  const done = new Promise((resolve, reject) => {
    request.upload.addEventListener("progress", (event) => onbytes(event.loaded));
    request.addEventListener("load", () => {
      let data = {};
      try { data = JSON.parse(request.responseText); } catch { /* not ours */ }
      if (request.status === 200) resolve(data);
      else reject(new Told(data, request.status));
    });
    request.addEventListener("error", () => reject(new Told({
      error: "the upload broke off", hint: "the file may be too large, or the studio was closed",
    }, 0)));
    request.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
    request.open("POST", "/api/upload");
    for (const [name, value] of Object.entries(pageHeader())) request.setRequestHeader(name, value);
    request.setRequestHeader("x-file-name", encodeURIComponent(file.name));
    request.send(file);
  });
  return { done, cancel: () => request.abort() };
}

export function unpackFloats(text) {
  const raw = unpackBytes(text);
  return new Float32Array(raw.buffer);
}

export const unpackBytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
