// Shards: the index by one range read, then the inner chunks that are wanted.

import { readValue } from "./ask.js";
import { NotHere, chainOf, checkedAtEnd, configurationOf, nameOf } from "./codecs.js";

const EMPTY = 0xffffffffffffffffn;
const GAP = 1 << 14; // unneeded bytes that are read rather than skipped
const INDEX_CODECS = "the index of the shards is encoded in a way that the page does not know";

/** How shards of a shape are read: {chunk, chain, grid, read}. Throws NotHere if not here. */
export function shardLayout(definition, shardShape) {
  const {
    chunk_shape: chunk,
    codecs,
    index_codecs: indexCodecs,
    index_location: place,
  } = configurationOf(definition);
  const chain = chainOf(codecs);
  if (nameOf(chain.serializer) !== "bytes") throw new NotHere("there are shards within shards");
  const grid = shardShape.map((length, axis) => length / chunk[axis]);
  const count = grid.reduce((product, length) => product * length, 1);
  const [first, second, third] = indexCodecs;
  const little = (configurationOf(first).endian ?? "little") === "little";
  const isChecked = second !== undefined;
  if (nameOf(first) !== "bytes" || third || (isChecked && nameOf(second) !== "crc32c")) {
    throw new NotHere(INDEX_CODECS);
  }
  const size = count * 16 + (isChecked ? 4 : 0);
  return { chunk, chain, grid, little, isChecked, size, atStart: place === "start" };
}

/** The index of a shard: a function from the number of an inner chunk to [start, stop] or null. */
export async function readIndex(key, layout, options) {
  const range = layout.atStart ? `bytes=0-${layout.size - 1}` : `bytes=-${layout.size}`;
  const stored = await readValue(key, { range, ...options });
  if (stored === null) return null;
  if (stored.length !== layout.size) throw new Error(`${key}: shorter than the index of a shard`);
  const index = layout.isChecked ? checkedAtEnd(stored) : stored;
  const view = new DataView(index.buffer, index.byteOffset, index.length);
  return (number) => {
    const start = view.getBigUint64(number * 16, layout.little);
    const length = view.getBigUint64(number * 16 + 8, layout.little);
    if (start === EMPTY && length === EMPTY) return null;
    return [Number(start), Number(start + length)];
  };
}

/** Read parts of a value, each [start, stop], neighbours in one read; bytes in the same order. */
export async function readParts(key, parts, options) {
  const order = parts.map((_, at) => at).sort((one, other) => parts[one][0] - parts[other][0]);
  const runs = [];
  for (const at of order) {
    const [start, stop] = parts[at];
    const last = runs.at(-1);
    if (last && start - last.stop <= GAP) {
      last.stop = Math.max(last.stop, stop);
      last.members.push(at);
    } else {
      runs.push({ start, stop, members: [at] });
    }
  }
  const found = new Array(parts.length);
  await Promise.all(
    runs.map(async ({ start, stop, members }) => {
      const range = `bytes=${start}-${stop - 1}`;
      const data = stop > start ? await readValue(key, { range, ...options }) : new Uint8Array();
      if (data === null || data.length !== stop - start) {
        throw new Error(`${key}: the index of the shard names bytes that are not there`);
      }
      for (const at of members) {
        found[at] = data.subarray(parts[at][0] - start, parts[at][1] - start);
      }
    }),
  );
  return found;
}
