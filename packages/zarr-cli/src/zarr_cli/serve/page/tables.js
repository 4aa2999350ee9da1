// Tables of elements.

import { element } from "./dom.js";
import { elementText } from "./text.js";
import { axisName } from "./view_controls.js";

const ROWS = 24;
const COLUMNS = 12;

/** Create a table of all texts. */
export function textTable(node, view, texts) {
  const shown = table(node, view, (at) => texts[at], Infinity, Infinity);
  shown.classList.add("texts");
  return shown;
}

/** Create a box that shows the numbers in the corner of the window while it is open. */
export function numberBox(node, view, read) {
  const box = element("details", {}, element("summary", {}, "Numbers"));
  box.update = () => {
    if (!box.open) return;
    const text = (at) => elementText(read(), at);
    box.replaceChildren(box.firstChild, table(node, view, text, ROWS, COLUMNS));
  };
  box.addEventListener("toggle", box.update);
  return box;
}

function table(node, view, text, mostRows, mostColumns) {
  // One-dimensional windows are shown as a column.
  const isLine = view.down === null;
  const [high, wide] = isLine ? view.size.toReversed() : view.size;
  const rows = Math.min(high, mostRows);
  const columns = Math.min(wide, mostColumns);
  const cell = (row, column) => (isLine ? [0, row] : [row, column]);
  const rowAxis = isLine ? view.across : view.down;
  const heading = (axis, row, column) => String(view.indexOf(...cell(row, column))[axis] ?? "");
  const heads = numbersTo(columns).map((column) =>
    element("th", { scope: "col" }, isLine ? "value" : heading(view.across, 0, column)),
  );
  const lines = numbersTo(rows).map((row) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, heading(rowAxis, row, 0)),
      ...numbersTo(columns).map((column) =>
        element("td", {}, text(view.placeOf(...cell(row, column)))),
      ),
    ),
  );
  const corner = isLine
    ? axisName(node, rowAxis)
    : `${axisName(node, rowAxis)} \\ ${axisName(node, view.across)}`;
  const isCut = rows < high || columns < wide;
  return element(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Elements" },
    element(
      "table",
      { class: "elements" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, corner), ...heads)),
      element("tbody", {}, ...lines),
    ),
    isCut
      ? element(
          "p",
          { class: "faint" },
          "Only the first rows and columns of the window; move it to see others.",
        )
      : null,
  );
}

const numbersTo = (count) => Array.from({ length: count }, (_, number) => number);
