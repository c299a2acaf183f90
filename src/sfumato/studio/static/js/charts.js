// The plots, on uPlot: its axes and grid, our own points. Colours come from the style sheet, so that dark mode works.

/* global uPlot */

const CLUSTERS = 8;

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return {
    ink: of("--muted"), grid: of("--grid"), accent: of("--accent"), dot: of("--dot"), card: of("--card"), strong: of("--ink"),
    clusters: Array.from({ length: CLUSTERS }, (_, i) => of(`--cluster-${i}`)),
  };
}

function axes(palette, [x, y]) {
  const common = { stroke: palette.ink, grid: { stroke: palette.grid, width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" };
  return [{ ...common, label: x || undefined, labelSize: 18, size: 30 }, { ...common, label: y || undefined, labelSize: 18, size: 52 }];
}

// Makes a plot that follows the width of its place and the light or dark mode; `build` returns
// uPlot options and data, or null while there is nothing to show.
function plot(place, height, build) {
  let made = null;
  const draw = () => {
    if (!place.isConnected) { observer.disconnect(); return; }
    const built = build(colours());
    if (!built) return; // nothing to show yet
    const width = Math.max(200, Math.floor(place.clientWidth));
    made?.destroy();
    const { options, data } = built;
    made = new uPlot({ width, height, legend: { show: false }, cursor: { show: false }, padding: [10, 12, 0, 0], ...options }, data, place);
  };
  let width = 0;
  const observer = new ResizeObserver(() => { if (place.clientWidth !== width) { width = place.clientWidth; draw(); } });
  observer.observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return draw;
}

const spread = ([low, high]) => {
  const margin = 0.06 * (high - low) || 1;
  return [low - margin, high + margin];
};

export const join = (a, b) => a.map(([low, high], i) => [Math.min(low, b[i][0]), Math.max(high, b[i][1])]);

// Thousands of points as small squares, in an order that hides no cluster behind another.
export function scatter(place, read) {
  const paint = (u, { points, labels }, palette) => {
    const { ctx } = u;
    const { left, top, width, height } = u.bbox;
    const [x0, x1] = [u.scales.x.min, u.scales.x.max];
    const [y0, y1] = [u.scales.y.min, u.scales.y.max];
    const size = Math.max(1, Math.round((points.length > 20_000 ? 1.6 : 2.6) * devicePixelRatio));
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    ctx.globalAlpha = points.length > 20_000 ? 0.55 : 0.75;
    const buckets = 8; // a cluster is drawn in eight rounds, turn by turn with the others
    const count = points.length / 2;
    for (let round = 0; round < buckets; round += 1) {
      for (let cluster = 0; cluster < CLUSTERS; cluster += 1) {
        ctx.fillStyle = palette.clusters[cluster];
        for (let i = round; i < count; i += buckets) {
          if (labels[i] !== cluster) continue;
          ctx.fillRect(left + (points[2 * i] - x0) / (x1 - x0) * width - size / 2, top + (y1 - points[2 * i + 1]) / (y1 - y0) * height - size / 2, size, size);
        }
      }
    }
    ctx.restore();
  };
  return plot(place, 320, (palette) => {
    const shown = read();
    if (!shown) return null;
    const [x, y] = shown.range.map(spread);
    return {
      options: {
        scales: { x: { time: false, range: x }, y: { range: y } }, axes: axes(palette, shown.names), series: [{}, { show: false }],
        hooks: { draw: [(u) => { paint(u, shown, palette); place.dispatchEvent(new Event("painted")); }] },
      },
      data: [x, [null, null]],
    };
  });
}

export function histogram(place, read) {
  return plot(place, 220, (palette) => {
    const shown = read();
    if (!shown) return null;
    const { low, high, before, after, name } = shown;
    const width = (high - low) / before.length;
    const x = before.map((_, i) => low + (i + 0.5) * width);
    const bars = uPlot.paths.bars({ size: [1, 100] });
    return {
      options: {
        scales: { x: { time: false, range: [low, high] }, y: { range: [0, 1.08 * Math.max(1, ...before, ...after)] } },
        axes: axes(palette, [name, "rows"]),
        series: [{}, { paths: bars, fill: `${palette.dot}88`, width: 0, points: { show: false } },
          { stroke: palette.accent, width: 2, paths: uPlot.paths.stepped({ align: 0 }), points: { show: false } }],
      },
      data: [x, before, after],
    };
  });
}

// Settings as points: right hides more, up keeps more. `read` returns [{ x, y, chosen, label, pick }].
export function tradeoff(place, read, height = 280) {
  let shown = [];
  const draw = plot(place, height, (palette) => {
    shown = read();
    const x = spread([0, 1.15 * Math.max(0.2, ...shown.map((one) => one.x))]);
    const low = Math.min(0.95, ...shown.map((one) => one.y));
    const y = spread([low, 1]);
    return {
      options: {
        scales: { x: { time: false, range: x }, y: { range: y } },
        axes: axes(palette, ["hidden from the best attack, median column (more is better)", "rows that keep their cluster"]).map((axis, i) =>
          (i === 1 ? { ...axis, values: (_, ticks) => ticks.map((tick) => (tick > 1.0001 ? "" : `${Math.round(1000 * tick) / 10} %`)), size: 62 } : axis)),
        series: [{}, { show: false }],
        hooks: { draw: [(u) => mark(u, shown, palette)] },
      },
      data: [x, [null, null]],
    };
  });
  place.classList.add("tradeoff");
  place.addEventListener("click", (event) => {
    const box = place.querySelector("canvas").getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top].map((length) => length * devicePixelRatio);
    const away = (one) => Math.hypot(one.left - x, one.top - y);
    const nearest = [...shown].sort((a, b) => away(a) - away(b))[0];
    if (nearest && away(nearest) < 14 * devicePixelRatio) nearest.pick?.();
  });
  // where the points stand, in pixels of the page: for whoever looks at the plot from outside
  Object.defineProperty(place, "points", { get: () => shown.map((one) => ({ x: one.x, y: one.y, left: one.left / devicePixelRatio, top: one.top / devicePixelRatio })) });
  return draw;
}

function mark(u, shown, palette) {
  const { ctx } = u;
  const scale = devicePixelRatio;
  const taken = [];
  ctx.save();
  ctx.font = `${12 * scale}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  for (const one of [...shown].sort((a, b) => Number(a.chosen) - Number(b.chosen))) {
    one.left = u.valToPos(one.x, "x", true);
    one.top = u.valToPos(one.y, "y", true);
    ctx.beginPath();
    ctx.arc(one.left, one.top, (one.chosen ? 8 : 5.5) * scale, 0, 2 * Math.PI);
    ctx.fillStyle = one.chosen ? palette.accent : palette.dot;
    ctx.fill();
    ctx.lineWidth = 1.5 * scale;
    ctx.strokeStyle = palette.card;
    ctx.stroke();
  }
  ctx.fillStyle = palette.strong;
  const dots = shown.map((one) => ({ left: one.left - 6 * scale, right: one.left + 6 * scale, top: one.top }));
  for (const one of shown.filter((item) => item.label)) {
    const width = ctx.measureText(one.label).width;
    // beside its point where there is room; a name that would cover another is left to the table below
    const place = [[10, 0], [10, -13], [10, 13], [-10, 0], [-10, -13], [-10, 13], [10, -26], [10, 26]].map(([x, y]) => {
      const left = one.left + x * scale - (x < 0 ? width : 0);
      return { left, right: left + width, top: one.top + y * scale };
    }).find((box) => box.left > u.bbox.left && box.right < u.bbox.left + u.bbox.width && box.top > u.bbox.top && box.top < u.bbox.top + u.bbox.height
      && ![...taken, ...dots].some((other) => Math.abs(other.top - box.top) < 12 * scale && box.left < other.right && box.right > other.left));
    if (!place) continue;
    taken.push(place);
    ctx.fillText(one.label, place.left, place.top);
  }
  ctx.restore();
}
