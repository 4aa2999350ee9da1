// The storage layout of an array, from its metadata.

import { NotSupported, codecChain, configurationOf, nameOf } from "./codecs.js";
import { fillBytes, numberType } from "./data_types.js";
import { shardLayout } from "./shards.js";

/**
 * Return {type, fill, little, stored, chunk, chain, shard, key, strides} of an array.
 *
 * `stored` is the shape of the stored objects, `chunk` the shape of the decoded chunks, `key` a
 * function from chunk coordinates to a key. Throws NotSupported.
 */
export function layoutOf(metadata, prefix) {
  if (prefix === null) throw new NotSupported("the array is only known from consolidated metadata");
  const type = numberType(metadata.data_type);
  if (!type) throw new NotSupported(`the data type ${nameOf(metadata.data_type)} is not supported`);
  if (nameOf(metadata.chunk_grid) !== "regular") {
    throw new NotSupported("chunks with differing lengths are not supported");
  }
  if (metadata.storage_transformers?.length) {
    throw new NotSupported("storage transformers are not supported");
  }
  const stored = configurationOf(metadata.chunk_grid).chunk_shape;
  const outer = codecChain(metadata.codecs);
  let shard = null;
  if (nameOf(outer.serializer) === "sharding_indexed") {
    if (outer.decoders.length || outer.orders.length)
      throw new NotSupported("shards with further codecs are not supported");
    shard = shardLayout(outer.serializer, stored);
  }
  const chain = shard?.chain ?? outer;
  const chunk = shard?.chunk ?? stored;
  const little = (configurationOf(chain.serializer).endian ?? "little") === "little";
  const fill = fillBytes(metadata.fill_value, type, little);
  if (!fill) throw new NotSupported("the fill value is not supported in JavaScript");
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
  throw new NotSupported(`the chunk key encoding ${name} is not supported`);
}

/** Return the strides of a chunk in elements, after transpositions. */
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
