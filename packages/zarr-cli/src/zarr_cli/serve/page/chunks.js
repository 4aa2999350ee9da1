// The view of an array's chunks: which are stored, how large, how well compressed.

import { askJson } from "./ask.js";
import { colourAt } from "./colours.js";
import { choice, element, errorBox, labelled } from "./dom.js";
import { pointing } from "./pointing.js";
import { bytes, whole } from "./text.js";
import { axisName } from "./view_controls.js";

const MAP = "dusk";
const LONGER = 60; // seconds

const MEASURES = {
  size: { title: "stored size", of: (cell) => cell.bytes / cell.stored, text: bytes, log: true },
  ratio: { title: "compression ratio", of: (cell) => cell.decoded / cell.bytes, text: (ratio) => `${ratio.toFixed(2)} times`, log: true },
  filled: { title: "part that is stored", of: (cell) => cell.stored / cell.of, text: (part) => `${(100 * part).toFixed(0)} %` },
};

/** Show which chunks of an array exist. */
export function chunksView(node) {
  const panel = element("section", { class: "chunks", "aria-label": "Chunks" });
  if (!node.readable) {
    panel.append(element("p", {}, "The array cannot be read; see its problems in the overview."));
    return panel;
  }
  const chosen = { measure: "size", rows: null, columns: null };
  const show = async (seconds) => {
    panel.setAttribute("aria-busy", "true");
    try {
      const asked = { path: node.path };
      if (seconds) asked.seconds = seconds;
      if (chosen.rows !== null) Object.assign(asked, { rows: chosen.rows, columns: chosen.columns });
      const map = await askJson("chunk-map", asked);
      panel.replaceChildren(...drawn(node, map, chosen, show));
    } catch (error) {
      panel.replaceChildren(errorBox(error, () => show(seconds)));
    } finally {
      panel.setAttribute("aria-busy", "false");
    }
  };
  panel.append(element("p", { class: "waiting" }, "Looking at what is stored …"));
  show();
  return panel;
}

function drawn(node, map, chosen, show) {
  const grid = gridOf(map);
  const what = node.shards ? "shards" : "chunks";
  const canvas = element("canvas", { class: "map", tabindex: 0, role: "img" });
  const legend = element("div", { class: "legend" });
  const readout = element("output", { class: "readout" }, "Point at the map to see single cells.");
  const paint = () => paintMap(canvas, legend, grid, chosen.measure);
  pointing(canvas, () => [grid.rows, grid.columns], (row, column) => {
    if (row !== null) readout.replaceChildren(...told(node, map, grid, what, row, column));
  });
  const options = [labelled("Colour shows", choice(Object.entries(MEASURES).map(([name, { title }]) => [name, title]), chosen.measure, (name) => {
    chosen.measure = name;
    paint();
  }))];
  if (map.grid.length > 2) options.push(...sides(node, map, chosen, show));
  canvas.setAttribute("aria-label", `Map of ${what}: ${summaryText(grid, what)}. Arrow keys move a pointer.`);
  const parts = [
    element("p", { class: "summary" }, summaryText(grid, what)),
    element("div", { class: "row" }, ...options),
    element("div", { class: "frame" },
      map.rows === null ? null : element("span", { class: "axis down" }, `${axisName(node, map.rows)} →`),
      canvas,
      map.columns === null ? null : element("span", { class: "axis across" }, `${axisName(node, map.columns)} →`)),
    legend,
    readout,
  ];
  if (!map.complete) {
    parts.splice(1, 0, element("p", { class: "note" },
      `Only the first ${whole(map.looked)} stored values were looked at, for it would have taken longer. `,
      element("button", { type: "button", onclick: () => show(LONGER) }, `Look for up to ${LONGER} s`)));
  }
  const [high, wide] = map.chunks_per_cell;
  const others = map.grid.filter((_, axis) => axis !== map.rows && axis !== map.columns);
  if (high * wide > 1 || others.some((count) => count > 1)) {
    const each = others.reduce((product, count) => product * count, high * wide);
    parts.push(element("p", { class: "faint" }, `A cell stands for up to ${whole(each)} ${what}; sizes are averages.`));
  }
  requestAnimationFrame(paint);
  return parts;
}

function sides(node, map, chosen, show) {
  const axes = map.grid.map((count, axis) => [axis, `${axisName(node, axis)} (${count})`]);
  const set = (name, other) => (text) => {
    const before = { rows: map.rows, columns: map.columns };
    Object.assign(chosen, before, { [name]: Number(text) });
    if (chosen.rows === chosen.columns) chosen[other] = before[name];
    show();
  };
  return [
    labelled("Down", choice(axes, map.rows, set("rows", "columns"))),
    labelled("Across", choice(axes, map.columns, set("columns", "rows"))),
  ];
}

/** The cells with what they stand for. */
function gridOf(map) {
  const [high, wide] = map.chunks_per_cell;
  const count = (axis) => (axis === null ? 1 : map.grid[axis]);
  const rows = Math.ceil(count(map.rows) / high);
  const columns = Math.ceil(count(map.columns) / wide);
  const others = map.grid.reduce((product, length, axis) => (axis === map.rows || axis === map.columns ? product : product * length), 1);
  const of = (row, column) => others
    * Math.min(high, count(map.rows) - row * high) * Math.min(wide, count(map.columns) - column * wide);
  const cells = new Map();
  for (const [row, column, stored, size, decoded] of map.cells) {
    cells.set(row * columns + column, { stored, bytes: size, decoded, of: of(row, column) });
  }
  return { rows, columns, cells, of, total: map.grid.reduce((product, length) => product * length, 1), complete: map.complete };
}

function summaryText(grid, what) {
  let stored = 0;
  let size = 0;
  let decoded = 0;
  for (const cell of grid.cells.values()) {
    stored += cell.stored;
    size += cell.bytes;
    decoded += cell.decoded;
  }
  const ratio = size ? `, ${(decoded / size).toFixed(2)} times as large when decoded` : "";
  const least = grid.complete ? "" : "at least ";
  return `${least}${whole(stored)} of ${whole(grid.total)} ${what} are stored, ${bytes(size)}${ratio}`;
}

function paintMap(canvas, legend, grid, measure) {
  const { of, text, log, title } = MEASURES[measure];
  const values = [...grid.cells.values()].map(of).filter(Number.isFinite);
  const least = values.reduce((one, other) => Math.min(one, other), Infinity);
  const greatest = values.reduce((one, other) => Math.max(one, other), -Infinity);
  const scaled = log ? (value) => Math.log(Math.max(value, 1e-9)) : (value) => value;
  const [low, high] = measure === "filled" ? [0, 1] : [scaled(least), scaled(greatest)];
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
  const size = [canvas.width / grid.columns, canvas.height / grid.rows];
  const gap = each > 5 ? ratio : 0;
  for (let row = 0; row < grid.rows; row += 1) {
    for (let column = 0; column < grid.columns; column += 1) {
      const cell = grid.cells.get(row * grid.columns + column);
      const box = [Math.round(column * size[0]), Math.round(row * size[1])];
      const end = [Math.round((column + 1) * size[0]) - gap, Math.round((row + 1) * size[1]) - gap];
      context.fillStyle = cell ? colourAt(MAP, place(of(cell))) : missing;
      context.fillRect(...box, end[0] - box[0], end[1] - box[1]);
    }
  }
  legend.replaceChildren(
    element("span", { class: "swatch" }), "not stored",
    ...(values.length ? [element("span", {}, text(measure === "filled" ? 0 : least)), scaleBar(), element("span", {}, text(measure === "filled" ? 1 : greatest)), element("span", { class: "faint" }, log ? `${title}, logarithmic` : title)] : []),
  );
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

function told(node, map, grid, what, row, column) {
  const cell = grid.cells.get(row * grid.columns + column);
  const [high, wide] = map.chunks_per_cell;
  const range = (axis, place, per) => {
    if (axis === null) return null;
    const last = Math.min(map.grid[axis], (place + 1) * per) - 1;
    return `${axisName(node, axis)} ${place * per === last ? last : `${place * per} to ${last}`}`;
  };
  const where = [range(map.rows, row, high), range(map.columns, column, wide)].filter(Boolean).join(", ");
  const place = where ? ` at ${where} of the grid` : "";
  if (!cell) return [element("strong", {}, grid.complete ? "not stored" : "not looked at, or not stored"), place];
  const some = cell.of > 1 ? `${whole(cell.stored)} of ${whole(cell.of)} ${what} stored, ` : "";
  return [element("strong", {}, `${some}${bytes(cell.bytes)}`), ` for ${bytes(cell.decoded)}, ${MEASURES.ratio.text(MEASURES.ratio.of(cell))}${place}`];
}
