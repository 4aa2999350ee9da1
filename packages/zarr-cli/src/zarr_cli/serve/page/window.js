// A window of an array, wherever it is decoded: in the page if that can be, else by the server.

import { ask } from "./ask.js";
import { NotHere } from "./codecs.js";
import { elementsOf } from "./data_types.js";
import { layoutOf } from "./layout.js";
import { ArrayReader } from "./reading.js";

/** Reads windows of a node; says how it does that. */
export class WindowSource {
  constructor(node) {
    this.node = node;
    this.reader = null;
    this.why = "";
    try {
      this.layout = layoutOf(node.metadata, node.prefix);
      this.reader = new ArrayReader(this.layout, node.shape);
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      this.why = error.message;
    }
  }

  /** Read everything anew from now on: what is remembered may be of another version. */
  forget() {
    if (this.reader) this.reader = new ArrayReader(this.layout, this.node.shape);
  }

  /** Bytes of decoded chunks that a selection touches. */
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
   * Gives {shape, kind, data, how}, or {shape, texts, how} where elements are no numbers.
   */
  async read(selection, signal) {
    const shape = selection.map((item) => item.count);
    if (this.reader) {
      const tally = { reads: 0, bytes: 0 };
      const data = await this.reader.read(selection, { signal, tally });
      return { shape, data, kind: this.layout.type.kind, how: { here: true, ...tally } };
    }
    const text = selection.map(
      ({ start, count, step }) => `${start}:${start + (count - 1) * step + 1}:${step}`,
    );
    const asked = { path: this.node.path, selection: text.join() };
    const answer = await ask("window", asked, signal);
    const how = { here: false, why: this.why };
    if (answer.headers.get("Content-Type").startsWith("application/json")) {
      return { shape, texts: (await answer.json()).texts, how };
    }
    const [, kind, size] = /^(\w)(\d+)$/.exec(answer.headers.get("Zarr-Data-Type"));
    const buffer = await answer.arrayBuffer();
    return { shape, data: elementsOf(buffer, kind, Number(size)), kind, how };
  }
}

const PARTS = {
  real: (re) => re,
  imaginary: (re, im) => im,
  magnitude: (re, im) => Math.hypot(re, im),
  phase: (re, im) => Math.atan2(im, re),
};

/** The parts that can be shown of complex elements. */
export const PART_NAMES = Object.keys(PARTS);

/** Elements of a window as numbers to draw. */
export function numbersOf(read, part) {
  if (read.kind !== "c") return Float64Array.from(read.data, Number);
  const take = PARTS[part];
  const numbers = new Float64Array(read.data.length / 2);
  for (let at = 0; at < numbers.length; at += 1) {
    numbers[at] = take(read.data[2 * at], read.data[2 * at + 1]);
  }
  return numbers;
}
