// Elements are built by code and text is set as text: nothing of a user's file is ever read as HTML.

export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function option(value, text, selected) {
  const made = h("option", { value }, text);
  made.selected = selected;
  return made;
}

// A select with a label, both given their names; `choices` are [value, text] pairs.
export function select(label, choices, chosen, onchange, properties = {}) {
  const box = h("select", { ...properties, onchange: (event) => onchange(event.target.value) },
    choices.map(([value, text]) => option(value, text, value === chosen)));
  return h("label", { class: "field" }, h("span", {}, label), box);
}

export function copyButton(text, what) {
  const button = h("button", { type: "button", class: "quiet", onclick: async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }, "aria-label": `Copy ${what}` }, "Copy");
  return button;
}

// Screen readers hear what changed without the focus moving.
export function announce(text) {
  const live = document.getElementById("live");
  if (live.textContent !== text) live.textContent = text;
}

export function progress(what, share) {
  const bar = h("progress", { max: 1, "aria-label": what });
  if (share !== null && share !== undefined) bar.value = share;
  return h("div", { class: "progress" }, bar, h("p", {}, what));
}

export function gradeBadge(grade, size = "") {
  return h("span", { class: `grade ${size} grade-${grade}`, role: "img", "aria-label": `Grade ${grade}` }, grade);
}
