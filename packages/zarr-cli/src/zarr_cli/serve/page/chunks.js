// The chunk view of an array: which chunks are stored, their sizes and compression.

import { requestJson } from "./requests.js";
import { cellsOf } from "./chunk_cells.js";
import { MEASURES, drawChunkMap } from "./draw_chunk_map.js";
import { button, element, errorBox, labelledChoice, problemList } from "./dom.js";
import { trackPointer } from "./pointer.js";
import { bytes, whole } from "./text.js";
import { axisName } from "./view_controls.js";

const MANY = 500_000; // stored values to inspect on request

/** Show which chunks of an array are stored. */
export function chunksView(node) {
  const panel = element("section", { class: "chunks", "aria-label": "Chunks" });
  if (!node.readable) {
    panel.append(element("p", {}, "The array cannot be read; see its problems in the overview."));
    return panel;
  }
  const chosen = { measure: "size", query: { path: node.path } };
  const show = async () => {
    panel.setAttribute("aria-busy", "true");
    try {
      const map = await requestJson("chunk-map", chosen.query);
      panel.replaceChildren(...content(node, map, chosen, show));
    } catch (error) {
      panel.replaceChildren(errorBox(error, show));
    } finally {
      panel.setAttribute("aria-busy", "false");
    }
  };
  panel.append(element("p", { class: "waiting" }, "Listing stored chunks …"));
  show();
  return panel;
}

function content(node, map, chosen, show) {
  const grid = cellsOf(map);
  const canvas = element("canvas", { class: "map", tabindex: 0, role: "img" });
  const legend = element("div", { class: "legend" });
  const readout = element("output", { class: "readout" }, "Point at the map to see a cell.");
  const draw = () => drawChunkMap(canvas, legend, grid, chosen.measure);
  trackPointer(
    canvas,
    () => [grid.rows, grid.columns],
    (row, column) => {
      if (row !== null) readout.replaceChildren(...cellText(node, map, grid, row, column));
    },
  );
  const summary = summaryText(map);
  const isEmpty = map.complete && map.total_stored === 0 && !map.problems.length;
  if (isEmpty) {
    return [
      element("p", { class: "summary" }, summary),
      element("p", { class: "note nothing" }, `Nothing stored yet: no ${map.unit} of the array.`),
    ];
  }
  canvas.setAttribute("aria-label", `Map of ${map.unit}s: ${summary}. Arrow keys move a pointer.`);
  const parts = [
    element("p", { class: "summary" }, summary),
    element("div", { class: "row" }, ...options(node, map, chosen, show, draw)),
    element(
      "div",
      { class: "frame" },
      map.rows === null
        ? null
        : element("span", { class: "axis down" }, `${axisName(node, map.rows)} →`),
      canvas,
      map.columns === null
        ? null
        : element("span", { class: "axis across" }, `${axisName(node, map.columns)} →`),
    ),
    legend,
    readout,
  ];
  if (map.problems.length) {
    const problems = map.problems.map((message) => ({ pointer: "", message }));
    parts.unshift(problemList(problems, "Not readable:"));
  }
  if (!map.complete) {
    parts.unshift(
      element(
        "p",
        { class: "note" },
        `Only the first ${whole(map.most)} stored values were inspected. `,
        button(`Inspect up to ${whole(MANY)}`, () => {
          chosen.query.most = MANY;
          show();
        }),
      ),
    );
  }
  if (grid.most > 1) {
    const others = map.others ? ` The map is ${map.others}.` : "";
    parts.push(
      element(
        "p",
        { class: "faint" },
        `Each cell represents up to ${whole(grid.most)} ${map.unit}s; sizes are averages.${others}`,
      ),
    );
  }
  requestAnimationFrame(draw);
  return parts;
}

function options(node, map, chosen, show, draw) {
  const update = (changes) => {
    Object.assign(chosen.query, { rows: map.rows, columns: map.columns, ...changes });
    show();
  };
  const measures = Object.entries(MEASURES).map(([name, { title }]) => [name, title]);
  const found = [
    labelledChoice("Colour shows", measures, chosen.measure, (name) => {
      chosen.measure = name;
      draw();
    }),
  ];
  if (node.shards) {
    const units = ["chunk", "shard"].map((unit) => [unit, `${unit}s`]);
    found.push(labelledChoice("Cells are", units, map.unit, (unit) => update({ unit })));
  }
  if (node.grid.length > 2) {
    const axes = node.shape.map((length, axis) => [axis, `${axisName(node, axis)} (${length})`]);
    // If a dimension is selected twice, the two dimensions are swapped.
    found.push(
      labelledChoice("Down", axes, map.rows, (text) =>
        update({ rows: text, columns: Number(text) === map.columns ? map.rows : map.columns }),
      ),
      labelledChoice("Across", axes, map.columns, (text) =>
        update({ columns: text, rows: Number(text) === map.rows ? map.columns : map.rows }),
      ),
    );
  }
  return found;
}

function summaryText(map) {
  const size = map.total_nbytes === null ? "" : `, ${bytes(map.total_nbytes)}`;
  const ratio =
    map.total_nbytes && map.total_nbytes_in_memory
      ? `, ${(map.total_nbytes_in_memory / map.total_nbytes).toFixed(2)} times as large when decoded`
      : "";
  return `${map.complete ? "" : "at least "}${whole(map.total_stored)} of ${whole(map.total)} ${map.unit}s are stored${size}${ratio}`;
}

function cellText(node, map, grid, row, column) {
  const cell = grid.cells[row * grid.columns + column];
  const range = (axis, [first, last]) =>
    axis !== null && `${axisName(node, axis)} ${first === last ? last : `${first} to ${last}`}`;
  const where = [
    range(map.rows, grid.rowChunks(row)),
    range(map.columns, grid.columnChunks(column)),
  ]
    .filter(Boolean)
    .join(", ");
  const position = where ? ` at ${where} of the grid` : "";
  if (!cell.stored)
    return [
      element("strong", {}, map.complete ? "not stored" : "not inspected, or not stored"),
      position,
    ];
  const some =
    cell.of > 1 ? `${whole(cell.stored)} of ${whole(cell.of)} ${map.unit}s stored, ` : "";
  const ratio =
    cell.decoded === null
      ? ""
      : ` for ${bytes(cell.decoded)}, ${MEASURES.ratio.text(MEASURES.ratio.of(cell))}`;
  return [element("strong", {}, `${some}${bytes(cell.bytes)}`), `${ratio}${position}`];
}
