// Drawing of a chunk map and its legend.

import { colourAt } from "./colours.js";
import { element } from "./dom.js";
import { bytes } from "./text.js";

const MAP = "viridis";

/** The quantities that colours can show. */
export const MEASURES = {
  size: { title: "stored size", of: (cell) => cell.bytes / cell.stored, text: bytes, log: true },
  ratio: {
    title: "compression ratio",
    of: (cell) => cell.decoded / cell.bytes,
    text: (ratio) => `${ratio.toFixed(2)} times`,
    log: true,
  },
  stored: { title: "stored fraction", of: (cell) => cell.stored / cell.of, text: percent },
  hard: {
    title: "incompressible fraction",
    of: (cell) => cell.hard / cell.stored,
    text: percent,
  },
};

function percent(part) {
  return `${(100 * part).toFixed(0)} %`;
}

/** Draw the cells of a grid in the colours of a measure. */
export function drawChunkMap(canvas, legend, grid, measure) {
  const { of, text, log, title } = MEASURES[measure];
  const values = grid.cells
    .filter((cell) => cell.stored)
    .map(of)
    .filter(Number.isFinite);
  const least = log ? values.reduce((one, other) => Math.min(one, other), Infinity) : 0;
  const greatest = log ? values.reduce((one, other) => Math.max(one, other), -Infinity) : 1;
  const scaled = log ? (value) => Math.log(Math.max(value, 1e-9)) : (value) => value;
  const [low, high] = [scaled(least), scaled(greatest)];
  const place = (value) => (high > low ? (scaled(value) - low) / (high - low) : 0.5);
  const room = Math.max(120, canvas.closest("section").clientWidth - 40);
  const each = Math.max(2, Math.min(room / grid.columns, 420 / grid.rows, 44));
  const ratio = window.devicePixelRatio || 1;
  canvas.style.width = `${each * grid.columns}px`;
  canvas.style.height = `${each * grid.rows}px`;
  canvas.width = Math.round(each * grid.columns * ratio);
  canvas.height = Math.round(each * grid.rows * ratio);
  const context = canvas.getContext("2d");
  const missing = getComputedStyle(canvas).color;
  const [wide, tall] = [canvas.width / grid.columns, canvas.height / grid.rows];
  const gap = each > 5 ? ratio : 0;
  for (const [number, cell] of grid.cells.entries()) {
    const row = Math.floor(number / grid.columns);
    const column = number % grid.columns;
    const [left, top] = [Math.round(column * wide), Math.round(row * tall)];
    const value = of(cell);
    context.fillStyle = cell.stored
      ? colourAt(MAP, Number.isFinite(value) ? place(value) : 0.5)
      : missing;
    context.fillRect(
      left,
      top,
      Math.round((column + 1) * wide) - gap - left,
      Math.round((row + 1) * tall) - gap - top,
    );
  }
  legend.replaceChildren(element("span", { class: "swatch" }), "not stored");
  if (values.length) {
    legend.append(
      element("span", {}, text(least)),
      scaleBar(),
      element("span", {}, text(greatest)),
      element("span", { class: "faint" }, log ? `${title}, logarithmic` : title),
    );
  }
}

function scaleBar() {
  const bar = element("canvas", { class: "scale", width: 64, height: 1, "aria-hidden": "true" });
  const context = bar.getContext("2d");
  for (let at = 0; at < 64; at += 1) {
    context.fillStyle = colourAt(MAP, at / 63);
    context.fillRect(at, 0, 1, 1);
  }
  return bar;
}
