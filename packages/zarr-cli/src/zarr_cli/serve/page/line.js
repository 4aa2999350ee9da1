// Line plot of a one-dimensional window.

import { unitsOf } from "./coordinates.js";
import { drawing, element, labelledChoice } from "./dom.js";
import { limitsOf } from "./draw_image.js";
import { trackPointer } from "./pointer.js";
import { numberBox } from "./tables.js";
import { number } from "./text.js";
import { PART_OPTIONS, numbersOf } from "./window.js";

const WIDTH = 900;
const HEIGHT = 320;
const LEFT = 70;
const BOTTOM = 30;
const TOP = 10;
const DOTS = 120; // maximum number of points that get a mark

/** A line plot; options are kept when the window changes. */
export class LineView {
  constructor(node, view, again, coordinates) {
    this.node = node;
    this.coordinates = coordinates;
    this.view = view;
    this.part = "real";
    this.plot = drawing("svg", {
      class: "line",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      tabindex: 0,
    });
    this.label = element("p", { class: "axis along" });
    this.readout = element("output", { class: "readout" }, "Point at the line to see values.");
    this.options = element("div", { class: "row" });
    this.table = numberBox(node, view, () => this.read);
    this.shown = element(
      "div",
      { class: "drawn" },
      this.plot,
      this.label,
      this.readout,
      this.options,
      this.table,
    );
    // The plot has a margin on the left without elements.
    const cells = () => [1, this.numbers.length * (WIDTH / (WIDTH - LEFT))];
    trackPointer(this.plot, cells, (row, at) =>
      this.point(row === null ? null : Math.round(at - (cells()[1] - this.numbers.length))),
    );
  }

  /** Show another window. */
  update(read) {
    this.read = read;
    this.numbers = numbersOf(read, this.part);
    if (read.kind === "c" && !this.options.firstChild) {
      this.options.append(
        labelledChoice("Part", PART_OPTIONS, this.part, (part) => {
          this.part = part;
          this.update(this.read);
        }),
      );
    }
    this.draw();
    this.table.update();
  }

  x(at) {
    return LEFT + ((at + 0.5) / this.numbers.length) * (WIDTH - LEFT);
  }

  y(value) {
    const [least, greatest] = this.limits;
    const part = greatest > least ? (value - least) / (greatest - least) : 0.5;
    return TOP + (1 - part) * (HEIGHT - BOTTOM - TOP);
  }

  draw() {
    this.limits = limitsOf(this.numbers, () => false);
    const { start, step } = this.view.selection()[this.view.across];
    let path = "";
    let pen = "M";
    for (const [at, value] of this.numbers.entries()) {
      if (!Number.isFinite(value)) {
        pen = "M"; // a gap
        continue;
      }
      path += `${pen}${this.x(at).toFixed(1)} ${this.y(value).toFixed(1)}`;
      pen = "L";
    }
    const dots =
      this.numbers.length > DOTS
        ? []
        : [...this.numbers].flatMap((value, at) =>
            Number.isFinite(value)
              ? [drawing("circle", { cx: this.x(at), cy: this.y(value), r: 3 })]
              : [],
          );
    const scale = ticks(...this.limits).map((value) =>
      drawing(
        "g",
        {},
        drawing("line", {
          class: "grid",
          x1: LEFT,
          x2: WIDTH,
          y1: this.y(value),
          y2: this.y(value),
        }),
        drawing("text", { x: LEFT - 6, y: this.y(value) + 4, "text-anchor": "end" }, number(value)),
      ),
    );
    const last = start + (this.numbers.length - 1) * step;
    const units = unitsOf(this.node);
    this.label.replaceChildren(
      `${this.coordinates.label(this.view.across, [start, last])} →${units ? `   values in ${units} ↑` : ""}`,
    );
    const places = ticks(start, last)
      .filter(Number.isInteger)
      .map((index) =>
        drawing(
          "text",
          { x: this.x((index - start) / step), y: HEIGHT - 10, "text-anchor": "middle" },
          String(index),
        ),
      );
    this.mark = drawing("circle", { class: "mark", r: 5, visibility: "hidden" });
    this.plot.replaceChildren(
      ...scale,
      ...places,
      drawing("path", { d: path }),
      ...dots,
      this.mark,
    );
    this.plot.setAttribute(
      "aria-label",
      `Line of ${this.numbers.length} elements from ${number(this.limits[0])} to ${number(this.limits[1])}. Arrow keys move along it.`,
    );
  }

  point(at) {
    if (at === null || at < 0 || at >= this.numbers.length) {
      this.mark.setAttribute("visibility", "hidden");
      return;
    }
    const value = this.numbers[at];
    const { across } = this.view;
    const index = this.view.indexOf(0, at)[across];
    const exact = this.read.kind === "c" ? value : this.read.data[at];
    this.readout.replaceChildren(
      element("strong", {}, `${number(exact)} ${unitsOf(this.node)}`.trim()),
      `  at ${this.coordinates.position(across, index)}`,
    );
    if (!Number.isFinite(value)) return;
    this.mark.setAttribute("visibility", "visible");
    this.mark.setAttribute("cx", this.x(at));
    this.mark.setAttribute("cy", this.y(value));
  }
}

/** Return a few round numbers between two limits. */
function ticks(least, greatest) {
  if (!(greatest > least)) return [least];
  const rough = (greatest - least) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let value = Math.ceil(least / step) * step; value <= greatest + step * 1e-9; value += step) {
    found.push(Number(value.toPrecision(12)));
  }
  return found;
}
