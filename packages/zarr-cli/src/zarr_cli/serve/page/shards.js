// Reading of shards: the index with one range request, then the selected inner chunks.

import { readValue } from "./requests.js";
import { NotSupported, codecChain, verifyChecksum, configurationOf, nameOf } from "./codecs.js";

const EMPTY = 0xffffffffffffffffn;
const GAP = 1 << 14; // maximum gap between ranges that are read together, in bytes
const INDEX_CODECS = "the codecs of the shard index are not supported";

/** Return the layout of shards: {chunk, chain, grid, ...}. Throws NotSupported. */
export function shardLayout(definition, shardShape) {
  const {
    chunk_shape: chunk,
    codecs,
    index_codecs: indexCodecs,
    index_location: place,
  } = configurationOf(definition);
  const chain = codecChain(codecs);
  if (nameOf(chain.serializer) !== "bytes") throw new NotSupported("nested shards are not supported");
  const grid = shardShape.map((length, axis) => length / chunk[axis]);
  const count = grid.reduce((product, length) => product * length, 1);
  const [first, second, third] = indexCodecs;
  const little = (configurationOf(first).endian ?? "little") === "little";
  const isChecked = second !== undefined;
  if (nameOf(first) !== "bytes" || third || (isChecked && nameOf(second) !== "crc32c")) {
    throw new NotSupported(INDEX_CODECS);
  }
  const size = count * 16 + (isChecked ? 4 : 0);
  return { chunk, chain, grid, little, isChecked, size, atStart: place === "start" };
}

/** Read a shard index: a function from an inner chunk number to [start, stop] or null. */
export async function readIndex(key, layout, options) {
  const range = layout.atStart ? `bytes=0-${layout.size - 1}` : `bytes=-${layout.size}`;
  const stored = await readValue(key, { range, ...options });
  if (stored === null) return null;
  if (stored.length !== layout.size) throw new Error(`${key}: shorter than its shard index`);
  const index = layout.isChecked ? verifyChecksum(stored) : stored;
  const view = new DataView(index.buffer, index.byteOffset, index.length);
  return (number) => {
    const start = view.getBigUint64(number * 16, layout.little);
    const length = view.getBigUint64(number * 16 + 8, layout.little);
    if (start === EMPTY && length === EMPTY) return null;
    return [Number(start), Number(start + length)];
  };
}

/** Read byte ranges [start, stop] of a value; close ranges are combined in one request. */
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
        throw new Error(`${key}: the shard index refers to bytes beyond the end`);
      }
      for (const at of members) {
        found[at] = data.subarray(parts[at][0] - start, parts[at][1] - start);
      }
    }),
  );
  return found;
}
