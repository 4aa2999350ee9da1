// The view of an array's chunks: which are stored, how large, how well compressed.

import { askJson } from "./ask.js";
import { cellsOf } from "./chunk_cells.js";
import { MEASURES, paintMap } from "./chunk_painting.js";
import { choice, element, errorBox, labelled } from "./dom.js";
import { pointing } from "./pointing.js";
import { bytes, whole } from "./text.js";
import { axisName } from "./view_controls.js";

const MANY = 500_000; // stored objects that are looked at if somebody wants to wait

/** Show which chunks of an array exist. */
export function chunksView(node) {
  const panel = element("section", { class: "chunks", "aria-label": "Chunks" });
  if (!node.readable) {
    panel.append(element("p", {}, "The array cannot be read; see its problems in the overview."));
    return panel;
  }
  const chosen = { measure: "size", asked: { path: node.path } };
  const show = async () => {
    panel.setAttribute("aria-busy", "true");
    try {
      const map = await askJson("chunk-map", chosen.asked);
      panel.replaceChildren(...drawn(node, map, chosen, show));
    } catch (error) {
      panel.replaceChildren(errorBox(error, show));
    } finally {
      panel.setAttribute("aria-busy", "false");
    }
  };
  panel.append(element("p", { class: "waiting" }, "Looking at what is stored …"));
  show();
  return panel;
}

function drawn(node, map, chosen, show) {
  const grid = cellsOf(map);
  const canvas = element("canvas", { class: "map", tabindex: 0, role: "img" });
  const legend = element("div", { class: "legend" });
  const readout = element("output", { class: "readout" }, "Point at the map to see single cells.");
  const paint = () => paintMap(canvas, legend, grid, chosen.measure);
  pointing(
    canvas,
    () => [grid.rows, grid.columns],
    (row, column) => {
      if (row !== null) readout.replaceChildren(...told(node, map, grid, row, column));
    },
  );
  const summary = summaryText(map);
  canvas.setAttribute("aria-label", `Map of ${map.unit}s: ${summary}. Arrow keys move a pointer.`);
  const parts = [
    element("p", { class: "summary" }, summary),
    element("div", { class: "row" }, ...options(node, map, chosen, show, paint)),
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
    parts.unshift(
      element(
        "div",
        { class: "error problems" },
        element("h3", {}, "What could not be looked into:"),
        element("ul", {}, ...map.problems.map((text) => element("li", {}, text))),
      ),
    );
  }
  if (!map.complete) {
    parts.unshift(
      element(
        "p",
        { class: "note" },
        `Only the first ${whole(map.most)} stored values were looked at. `,
        element(
          "button",
          {
            type: "button",
            onclick: () => {
              chosen.asked.most = MANY;
              show();
            },
          },
          `Look at up to ${whole(MANY)}`,
        ),
      ),
    );
  }
  if (grid.most > 1) {
    const others = map.others ? ` It is ${map.others}.` : "";
    parts.push(
      element(
        "p",
        { class: "faint" },
        `A cell stands for up to ${whole(grid.most)} ${map.unit}s; sizes are averages.${others}`,
      ),
    );
  }
  requestAnimationFrame(paint);
  return parts;
}

function options(node, map, chosen, show, paint) {
  const ask = (changes) => {
    Object.assign(chosen.asked, { rows: map.rows, columns: map.columns, ...changes });
    show();
  };
  const measures = Object.entries(MEASURES).map(([name, { title }]) => [name, title]);
  const found = [
    labelled(
      "Colour shows",
      choice(measures, chosen.measure, (name) => {
        chosen.measure = name;
        paint();
      }),
    ),
  ];
  if (node.shards) {
    found.push(
      labelled(
        "Cells are",
        choice(
          [
            ["chunk", "chunks"],
            ["shard", "shards"],
          ],
          map.unit,
          (unit) => ask({ unit }),
        ),
      ),
    );
  }
  if (node.grid.length > 2) {
    const axes = node.shape.map((length, axis) => [axis, `${axisName(node, axis)} (${length})`]);
    // A dimension that is chosen twice changes places with the other.
    found.push(
      labelled(
        "Down",
        choice(axes, map.rows, (text) =>
          ask({ rows: text, columns: Number(text) === map.columns ? map.rows : map.columns }),
        ),
      ),
    );
    found.push(
      labelled(
        "Across",
        choice(axes, map.columns, (text) =>
          ask({ columns: text, rows: Number(text) === map.rows ? map.columns : map.rows }),
        ),
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

function told(node, map, grid, row, column) {
  const cell = grid.cells[row * grid.columns + column];
  const range = (axis, [first, last]) =>
    axis !== null && `${axisName(node, axis)} ${first === last ? last : `${first} to ${last}`}`;
  const where = [
    range(map.rows, grid.rowChunks(row)),
    range(map.columns, grid.columnChunks(column)),
  ]
    .filter(Boolean)
    .join(", ");
  const place = where ? ` at ${where} of the grid` : "";
  if (!cell.stored)
    return [
      element("strong", {}, map.complete ? "not stored" : "not looked at, or not stored"),
      place,
    ];
  const some =
    cell.of > 1 ? `${whole(cell.stored)} of ${whole(cell.of)} ${map.unit}s stored, ` : "";
  const ratio =
    cell.decoded === null
      ? ""
      : ` for ${bytes(cell.decoded)}, ${MEASURES.ratio.text(MEASURES.ratio.of(cell))}`;
  return [element("strong", {}, `${some}${bytes(cell.bytes)}`), `${ratio}${place}`];
}
