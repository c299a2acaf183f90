// Numbers as people read them; each figure says what it counts and which way is better.

const whole = new Intl.NumberFormat("en");

export const count = (number) => whole.format(number);

export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

export function percent(share) {
  if (share === null || share === undefined) return "–";
  const value = 100 * share;
  return `${value > 0 && value < 10 ? value.toFixed(1) : value.toFixed(0)}\u00a0%`; // number and sign stay together
}

export function bytes(size) {
  const units = ["bytes", "kB", "MB", "GB"];
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) { size /= 1000; unit += 1; }
  return `${unit === 0 || size >= 100 ? size.toFixed(0) : size.toFixed(1)} ${units[unit]}`;
}

export function decimal(value, digits = 2) {
  return value === null || value === undefined ? "–" : value.toFixed(digits);
}

// Short for a slider's value: three significant digits, no trailing zeros.
export const short = (value) => Number(Number(value).toPrecision(3)).toString();

export const GRADES = {
  A: "no attack found anything",
  B: "holds against cheap attacks",
  C: "gives something away",
  D: "much can be recovered",
  F: "undone at little cost",
};
