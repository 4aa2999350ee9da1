// Reading of windows of an array: range requests, decoded in the page.

import { readValue } from "./requests.js";
import { decodeBytes } from "./codecs.js";
import { elementsOf } from "./data_types.js";
import { readIndex, readParts } from "./shards.js";

const AT_ONCE = 6; // concurrent requests, the usual limit of browsers per server
const CACHE_SIZE = 64 << 20; // bytes of decoded chunks

/** Reads windows of one array, with a cache of decoded chunks. */
export class ArrayReader {
  constructor(layout, shape) {
    this.layout = layout;
    this.shape = shape;
    this.chunks = new Map();
    this.indices = new Map();
    this.free = CACHE_SIZE;
  }

  /**
   * Read a selection: for each dimension {start, count, step}.
   *
   * Returns the elements in C order. `tally` counts {reads, bytes}.
   */
  async read(selection, { signal, tally }) {
    const { type, little } = this.layout;
    const target = new Target(selection, type.size, this.layout.fill);
    const jobs = [...this.objects(selection)];
    const options = { signal, tally };
    const work = async () => {
      for (let job = jobs.pop(); job; job = jobs.pop()) await this.readObject(job, target, options);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (!little) target.swap(type.kind === "c" ? type.size / 2 : type.size);
    return elementsOf(target.bytes.buffer, type.kind, type.size);
  }

  /** Yield the stored objects of a selection, each with its selected chunks. */
  *objects(selection) {
    const { chunk, stored } = this.layout;
    const found = new Map();
    for (const at of chunksOf(selection, chunk)) {
      const outer = at.map((number, axis) => Math.floor((number * chunk[axis]) / stored[axis]));
      const name = outer.join();
      if (!found.has(name)) found.set(name, { outer, chunks: [] });
      found.get(name).chunks.push(at);
    }
    yield* found.values();
  }

  async readObject({ outer, chunks }, target, options) {
    const key = this.layout.key(outer);
    const held = new Map(chunks.map((at) => [at, this.chunks.get(at.join())]));
    const missing = chunks.filter((at) => held.get(at) === undefined);
    if (missing.length) {
      const values = this.layout.shard
        ? await this.readShard(key, outer, missing, options)
        : [await readValue(key, options)];
      for (const [number, value] of values.entries()) {
        const data = value && (await this.decoded(key, value));
        held.set(missing[number], data);
        this.cache(missing[number].join(), data);
      }
    }
    for (const [at, data] of held) if (data) target.put(data, at, this.layout);
  }

  async readShard(key, outer, chunks, options) {
    const { shard, chunk, stored } = this.layout;
    if (!this.indices.has(key)) this.indices.set(key, await readIndex(key, shard, options));
    const index = this.indices.get(key);
    if (!index) return chunks.map(() => null);
    const parts = chunks.map((at) => {
      const within = at.map((number, axis) => number - (outer[axis] * stored[axis]) / chunk[axis]);
      return index(within.reduce((sum, place, axis) => sum * shard.grid[axis] + place, 0));
    });
    const read = await readParts(key, parts.filter(Boolean), options);
    return parts.map((part) => (part ? read.shift() : null));
  }

  async decoded(key, stored) {
    const { chain, chunk, type } = this.layout;
    try {
      const data = await decodeBytes(stored, chain);
      const size = chunk.reduce((product, length) => product * length, type.size);
      if (data.length !== size) {
        throw new Error(`a damaged chunk: ${data.length} bytes instead of ${size}`);
      }
      return data;
    } catch (error) {
      throw new Error(`${key}: ${error.message}`);
    }
  }

  cache(name, data) {
    const size = data?.length ?? 0;
    this.free -= size;
    this.chunks.set(name, data);
    for (const [old, value] of this.chunks) {
      // the oldest first
      if (this.free >= 0 || old === name) break;
      this.free += value?.length ?? 0;
      this.chunks.delete(old);
    }
  }
}

/** Return the coordinates of the chunks that intersect a selection. */
function chunksOf(selection, chunk) {
  let found = [[]];
  for (const [axis, { start, count, step }] of selection.entries()) {
    const numbers = [];
    for (let at = 0; at < count; at += 1) {
      const number = Math.floor((start + at * step) / chunk[axis]);
      if (numbers.at(-1) !== number) numbers.push(number);
    }
    found = found.flatMap((above) => numbers.map((number) => [...above, number]));
  }
  return found;
}

/** The buffer that receives a window. */
class Target {
  constructor(selection, size, fill) {
    this.selection = selection;
    const count = selection.reduce((product, item) => product * item.count, 1);
    this.bytes = new Uint8Array(count * size);
    const Word = { 1: Uint8Array, 2: Uint16Array }[size] ?? Uint32Array;
    this.Word = Word;
    this.words = new Word(this.bytes.buffer);
    this.perElement = size / Word.BYTES_PER_ELEMENT;
    const pattern = new Word(fill.slice().buffer);
    if (pattern.some((word) => word !== 0)) {
      for (let at = 0; at < this.words.length; at += 1) {
        this.words[at] = pattern[at % this.perElement];
      }
    }
  }

  /** Copy the selected elements of a chunk. */
  put(data, at, { chunk, strides }) {
    const whole = data.byteOffset % 4 === 0 ? data : data.slice();
    const words = new this.Word(
      whole.buffer,
      whole.byteOffset,
      data.length / this.Word.BYTES_PER_ELEMENT,
    );
    let places = [[0, 0]]; // [element of the target, element of the chunk]
    for (const [axis, { start, count, step }] of this.selection.entries()) {
      const origin = at[axis] * chunk[axis];
      const first = Math.max(0, Math.ceil((origin - start) / step));
      const last = Math.min(count, Math.ceil((origin + chunk[axis] - start) / step));
      const next = [];
      for (const [target, source] of places) {
        for (let place = first; place < last; place += 1) {
          const within = start + place * step - origin;
          next.push([target * count + place, source + within * strides[axis]]);
        }
      }
      places = next;
    }
    const each = this.perElement;
    for (const [target, source] of places) {
      for (let word = 0; word < each; word += 1) {
        this.words[target * each + word] = words[source * each + word];
      }
    }
  }

  /** Swap the byte order of every number. */
  swap(size) {
    for (let at = 0; at < this.bytes.length; at += size)
      this.bytes.subarray(at, at + size).reverse();
  }
}
