// A two-dimensional window as an image, with its scale and the value at the pointer.

import { MAPS } from "./colours.js";
import { element, labelled, labelledChoice } from "./dom.js";
import { unitsOf } from "./coordinates.js";
import { limitsFor, limitsOf, drawImage, drawScale, robustLimits } from "./draw_image.js";
import { trackPointer } from "./pointer.js";
import { numberBox } from "./tables.js";
import { elementText, number } from "./text.js";
import { PART_OPTIONS, numbersOf } from "./window.js";

const SIDE = 290; // width of the controls beside the image, in pixels
const ABOVE = 370; // initial estimate of the height above the image, in pixels

/** An image; options are kept when the window changes. */
export class PictureView {
  constructor(node, view, again, coordinates) {
    this.node = node;
    this.coordinates = coordinates;
    this.view = view;
    this.fill = fillOf(node);
    // A fill value other than zero usually marks missing data.
    const gaps = this.fill !== undefined && this.fill !== 0;
    this.chosen = {
      map: "viridis",
      range: "all",
      part: "real",
      gaps,
      upward: false,
      low: "",
      high: "",
    };
    this.canvas = element("canvas", { class: "picture", tabindex: 0, role: "img" });
    this.scale = element("canvas", { class: "scale", "aria-hidden": "true" });
    this.low = element("span", {});
    this.high = element("span", {});
    this.readout = element("output", { class: "readout" }, "Point at the image to see values.");
    this.downLabel = element("span", { class: "axis down" });
    this.acrossLabel = element("span", { class: "axis across" });
    this.options = element("div", { class: "row" });
    this.table = numberBox(node, view, () => this.read);
    this.side = element(
      "div",
      {},
      element("div", { class: "legend" }, this.low, this.scale, this.high),
      this.readout,
      this.options,
    );
    this.shown = element(
      "div",
      { class: "drawn beside" },
      element("div", { class: "frame" }, this.downLabel, this.canvas, this.acrossLabel),
      this.side,
      this.table,
    );
    trackPointer(
      this.canvas,
      () => this.view.size,
      (row, column) => this.point(row, column),
      () => this.chosen.upward,
    );
    this.canvas.addEventListener("keydown", ({ key }) => {
      if (key !== "+" && key !== "-") return;
      view.zoom(key === "+" ? 0.5 : 2);
      again();
    });
    new ResizeObserver(() => this.fit()).observe(this.shown);
  }

  /** Show another window. */
  update(read) {
    this.read = read;
    this.offer();
    this.draw();
    this.table.update();
  }

  draw() {
    const { view, chosen } = this;
    const [rows, columns] = view.size;
    const flat = numbersOf(this.read, chosen.part);
    this.numbers =
      view.down < view.across
        ? flat
        : Float64Array.from(
            flat,
            (_, at) => flat[view.placeOf(Math.floor(at / columns), at % columns)],
          );
    const isGap =
      chosen.gaps && this.read.kind !== "c" ? (value) => value === this.fill : () => false;
    const limits = limitsFor(chosen.map, this.limits(isGap));
    drawImage(this.canvas, this.numbers, rows, columns, {
      map: chosen.map,
      limits,
      isGap,
      upward: chosen.upward,
    });
    drawScale(this.scale, chosen.map);
    const isBlank = !this.numbers.some((value) => Number.isFinite(value) && !isGap(value));
    this.low.replaceChildren(isBlank ? "Only gaps." : number(limits[0]));
    this.high.replaceChildren(isBlank ? "" : `${number(limits[1])} ${unitsOf(this.node)}`.trim());
    this.scale.hidden = isBlank;
    const names = [view.down, view.across].map((axis) => {
      const { start, count, step } = view.selection()[axis];
      return this.coordinates.label(axis, [start, start + (count - 1) * step]);
    });
    this.downLabel.replaceChildren(`${names[0]} ${chosen.upward ? "←" : "→"}`);
    this.acrossLabel.replaceChildren(`${names[1]} →`);
    this.canvas.setAttribute(
      "aria-label",
      `Image of ${rows} by ${columns} elements, ${names[0]} down and ${names[1]} across, from ${number(limits[0])} to ${number(limits[1])}. Arrow keys move a pointer, plus and minus zoom.`,
    );
    this.fit();
  }

  limits(isGap) {
    const { range, low, high } = this.chosen;
    const found =
      range === "most" ? robustLimits(this.numbers, isGap) : limitsOf(this.numbers, isGap);
    if (range !== "fixed") return found;
    return [low, high].map((text, side) =>
      text === "" || Number.isNaN(Number(text)) ? found[side] : Number(text),
    );
  }

  /** Fit the image to the available space, with square elements if possible. */
  fit() {
    const [rows, columns] = this.view.size;
    const isBeside = getComputedStyle(this.shown).display === "grid";
    const room = Math.max(120, this.shown.clientWidth - (isBeside ? SIDE : 30));
    const page = this.canvas.closest("main");
    const above = page ? this.canvas.getBoundingClientRect().top + page.scrollTop : ABOVE;
    const high = Math.max(240, Math.min(560, window.innerHeight - above - 30));
    const each = Math.min(room / columns, high / rows, 40);
    this.canvas.style.width = `${Math.max(each * columns, Math.min(room, 60))}px`;
    this.canvas.style.height = `${Math.max(each * rows, 60)}px`;
  }

  point(row, column) {
    if (row === null) return;
    const [rows, columns] = this.view.size;
    if (row >= rows || column >= columns) return;
    const at = this.view.placeOf(row, column);
    const { kind, data } = this.read;
    const value = elementText(this.read, at);
    const position = this.view
      .indexOf(row, column)
      .map((index, axis) => this.coordinates.position(axis, index));
    const isFill = kind !== "c" && Object.is(Number(data[at]), this.fill);
    this.readout.replaceChildren(
      element("strong", {}, `${value} ${unitsOf(this.node)}`.trim()),
      `${isFill ? " (the fill value)" : ""}  at ${position.join(", ")}`,
    );
  }

  /** Create the controls. */
  offer() {
    const set = (name) => (value) => {
      this.chosen[name] = value;
      if (name === "range") this.offer();
      this.draw();
    };
    const fields = [labelledChoice("Colour map", MAPS, this.chosen.map, set("map"))];
    if (this.read.kind === "c") {
      fields.push(labelledChoice("Part", PART_OPTIONS, this.chosen.part, set("part")));
    }
    const ranges = [
      ["all", "minimum-maximum"],
      ["most", "2nd-98th percentile"],
      ["fixed", "fixed limits"],
    ];
    fields.push(labelledChoice("Range", ranges, this.chosen.range, set("range")));
    if (this.chosen.range === "fixed") {
      for (const [side, text] of [
        ["low", "from"],
        ["high", "to"],
      ]) {
        const input = element("input", {
          type: "number",
          step: "any",
          class: "exact",
          value: this.chosen[side],
          oninput: () => set(side)(input.value),
        });
        fields.push(labelled(text, input));
      }
    }
    fields.push(
      tick("Fill value as a gap", this.chosen.gaps, set("gaps")),
      tick("First row below", this.chosen.upward, set("upward")),
    );
    if (this.options.contains(document.activeElement)) return; // a control is in use
    this.options.replaceChildren(...fields);
  }
}

/** Create a checkbox. */
function tick(text, isOn, changed) {
  const box = element("input", {
    type: "checkbox",
    checked: isOn,
    onchange: () => changed(box.checked),
  });
  return element("label", { class: "tick" }, box, ` ${text}`);
}

/** Return the fill value of a numeric array as a number. */
function fillOf(node) {
  const value = node.metadata.fill_value;
  if (typeof value === "boolean") return Number(value);
  if (typeof value === "number") return value;
  return { NaN, Infinity, "-Infinity": -Infinity }[value];
}
