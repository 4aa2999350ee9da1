// Coordinates of the dimensions of an array, from one-dimensional arrays with their names.

import { request, requestJson } from "./requests.js";
import { number } from "./text.js";
import { axisName } from "./view_controls.js";
import { WindowSource } from "./window.js";

const MOST = 100_000; // coordinates to read

/** The coordinates of each dimension; null if there are none. */
export class Coordinates {
  constructor(node) {
    this.node = node;
    this.axes = node.shape.map(() => null);
  }

  /** Read the coordinates of all dimensions; those that cannot be read are ignored. */
  async load() {
    const above = this.node.path.split("/").slice(0, -1);
    const read = async (axis) => {
      const name = this.node.dimension_names?.[axis];
      const length = this.node.shape[axis];
      if (!name || name.includes("/") || length > MOST) return;
      const path = [...above, name].join("/");
      if (path === this.node.path) return;
      const other = await requestJson("node", { path });
      if (other.kind !== "array" || !other.readable || String(other.shape) !== String(length)) return;
      const selection = [{ start: 0, count: length, step: 1 }];
      const signal = new AbortController().signal;
      const { data, kind, texts } = await new WindowSource(other).read(selection, signal);
      if (kind === "c") return;
      const { units } = other.attributes;
      this.axes[axis] = {
        units: typeof units === "string" ? units : "",
        text: (index) => (texts ? texts[index] : number(data[index])),
      };
    };
    await Promise.allSettled(this.node.shape.map((_, axis) => read(axis)));
    return this;
  }

  /** Return the name of a dimension, with units and the limits of its shown part. */
  label(axis, [first, last]) {
    const name = axisName(this.node, axis);
    const own = this.axes[axis];
    if (!own) return `${name}: ${first} to ${last}`;
    return `${name}${own.units ? ` (${own.units})` : ""}: ${own.text(first)} to ${own.text(last)}`;
  }

  /** Return the position in a dimension: the index, and the coordinate if there is one. */
  position(axis, index) {
    const own = this.axes[axis];
    const name = axisName(this.node, axis);
    if (!own) return `${name} ${index}`;
    return `${name} ${index} (${own.text(index)}${own.units ? ` ${own.units}` : ""})`;
  }
}

/** Return the units of the elements of a node; an empty text if there are none. */
export const unitsOf = (node) =>
  typeof node.attributes?.units === "string" ? node.attributes.units : "";

/** Whether nothing of an array is stored; false if this is unknown. */
export async function isNothingStored(node) {
  try {
    const map = await (await request("chunk-map", { path: node.path })).json();
    return map.complete && !map.problems.length && map.total_stored === 0;
  } catch {
    return false;
  }
}
