// One object that every part of the page reads; whoever changes it says so, and the parts that care draw again.

export const state = {
  session: null, // catalogue, limits
  dataset: null, // the loaded table, without a single value of it
  settings: null, // { method, parameters, extras }
  k: 5,
  axes: null, // null: the main directions; otherwise two column names
  before: null,
  result: null, // what the last preview has told so far
  compared: null,
  loading: null,
  job: null,
};

const listeners = [];

export function listen(keys, react) {
  listeners.push([new Set(keys), react]);
}

export function change(patch) {
  Object.assign(state, patch);
  for (const [keys, react] of listeners) {
    if (Object.keys(patch).some((key) => keys.has(key))) react();
  }
}

export const method = (id) => state.session.methods.find((one) => one.id === id);

export const confidential = () => state.dataset.columns.filter((column) => column.role === "confidential");

export const sameSettings = (a, b) => JSON.stringify(ordered(a)) === JSON.stringify(ordered(b));

function ordered(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, ordered(value[key])]));
}
