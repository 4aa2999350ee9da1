// Windows of an array, decoded by the server.

import { request } from "./requests.js";

/** The typed arrays of the data types of the server; complex elements are pairs. */
const TYPES = {
  i1: Int8Array,
  i2: Int16Array,
  i4: Int32Array,
  i8: BigInt64Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  u8: BigUint64Array,
  f4: Float32Array,
  f8: Float64Array,
  c8: Float32Array,
  c16: Float64Array,
  b1: Uint8Array,
};

/** Reads windows of a node. */
export class WindowSource {
  constructor(node) {
    this.node = node;
  }

  /** Return the size of the decoded chunks of a selection, in bytes. */
  cost(selection) {
    const chunk = this.node.chunks.map((length) =>
      Array.isArray(length) ? Math.max(...length) : length,
    );
    const each = chunk.reduce((product, length) => product * length, this.node.item_size || 8);
    const chunks = selection.map((item, axis) =>
      Math.min(item.count, Math.ceil(((item.count - 1) * item.step + 1) / chunk[axis]) + 1),
    );
    return each * chunks.reduce((product, count) => product * count, 1);
  }

  /**
   * Read a selection: for each dimension {start, count, step}.
   *
   * Returns {shape, kind, data}, or {shape, texts} if elements are not numeric.
   */
  async read(selection, signal) {
    const shape = selection.map((item) => item.count);
    const text = selection.map(
      ({ start, count, step }) => `${start}:${start + (count - 1) * step + 1}:${step}`,
    );
    const query = { path: this.node.path, selection: text.join() };
    const response = await request("window", query, signal);
    if (response.headers.get("Content-Type").startsWith("application/json")) {
      return { shape, texts: (await response.json()).texts };
    }
    const type = response.headers.get("Zarr-Data-Type");
    return { shape, kind: type[0], data: new TYPES[type](await response.arrayBuffer()) };
  }
}

const PARTS = {
  real: (re) => re,
  imaginary: (re, im) => im,
  magnitude: (re, im) => Math.hypot(re, im),
  phase: (re, im) => Math.atan2(im, re),
};

/** The parts of complex elements that can be shown, as options. */
export const PART_OPTIONS = Object.keys(PARTS).map((name) => [name, name]);

/** Return the elements of a window as numbers to draw. */
export function numbersOf(read, part) {
  if (read.kind !== "c") return Float64Array.from(read.data, Number);
  const take = PARTS[part];
  const numbers = new Float64Array(read.data.length / 2);
  for (let at = 0; at < numbers.length; at += 1) {
    numbers[at] = take(read.data[2 * at], read.data[2 * at + 1]);
  }
  return numbers;
}
