// How an array is stored, worked out from its document alone; or why the page cannot read it.

import { NotHere, chainOf, configurationOf, nameOf } from "./codecs.js";
import { fillBytes, numberType } from "./data_types.js";
import { shardLayout } from "./shards.js";

/**
 * What the page needs to read chunks: {type, fill, little, stored, chunk, chain, shard, key}.
 *
 * `stored` is the shape of stored objects, `chunk` that of what is decoded at once, `key`
 * a function from grid coordinates to a key. Throws NotHere.
 */
export function layoutOf(metadata, prefix) {
  if (prefix === null) throw new NotHere("only consolidated metadata know of the array");
  const type = numberType(metadata.data_type);
  if (!type) throw new NotHere(`elements of the type ${nameOf(metadata.data_type)}`);
  if (nameOf(metadata.chunk_grid) !== "regular") throw new NotHere("chunks of differing lengths");
  if (metadata.storage_transformers?.length) throw new NotHere("a storage transformer");
  const stored = configurationOf(metadata.chunk_grid).chunk_shape;
  const outer = chainOf(metadata.codecs);
  let shard = null;
  if (nameOf(outer.serializer) === "sharding_indexed") {
    if (outer.undo.length || outer.orders.length)
      throw new NotHere("shards that are encoded again");
    shard = shardLayout(outer.serializer, stored);
  }
  const chain = shard?.chain ?? outer;
  const chunk = shard?.chunk ?? stored;
  const little = (configurationOf(chain.serializer).endian ?? "little") === "little";
  const fill = fillBytes(metadata.fill_value, type, little);
  if (!fill) throw new NotHere("a fill value that JavaScript does not have");
  const key = keyMaker(metadata.chunk_key_encoding, prefix);
  const strides = stridesOf(chunk, chain.orders);
  return { type, fill, little, stored, chunk, chain, shard, key, strides };
}

function keyMaker(encoding, prefix) {
  const name = nameOf(encoding);
  const { separator } = configurationOf(encoding);
  if (name === "default") {
    return (chunk) => prefix + ["c", ...chunk].join(separator ?? "/");
  }
  if (name === "v2") return (chunk) => prefix + (chunk.join(separator ?? ".") || "0");
  throw new NotHere(`chunk keys of the form ${name}`);
}

/** Where the next element of each dimension is in the bytes of a chunk, after transpositions. */
function stridesOf(shape, orders) {
  let axes = shape.map((_, axis) => axis);
  for (const order of orders) axes = order.map((at) => axes[at]);
  const strides = new Array(shape.length);
  let stride = 1;
  for (const axis of axes.reverse()) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}
