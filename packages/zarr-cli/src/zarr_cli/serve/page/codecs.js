// Decoding with the codecs that browsers and this page support.

import { decodeZstd } from "./zstd.js";

/** The page does not support something that decoding needs; the message says what. */
export class NotSupported extends Error {}

const STREAMS = {
  gzip: "gzip",
  "numcodecs.gzip": "gzip",
  "numcodecs.zlib": "deflate",
};

const DECODERS = { zstd: decodeZstd, "numcodecs.zstd": decodeZstd };

/** Return the name of a definition, which may be a string or an object. */
export const nameOf = (definition) =>
  typeof definition === "string" ? definition : definition.name;

/** Return the configuration of a definition. */
export const configurationOf = (definition) =>
  (typeof definition === "string" ? undefined : definition.configuration) ?? {};

/**
 * Return the codec chain of metadata.
 *
 * The result is {orders, serializer, decoders}: the orders of the transpositions, the
 * definition of the array -> bytes codec, and the decoders of the bytes -> bytes codecs in the
 * order of decoding. Throws NotSupported if a codec is not supported.
 */
export function codecChain(definitions) {
  const orders = [];
  const decoders = [];
  let serializer = null;
  for (const definition of definitions) {
    const name = nameOf(definition);
    const configuration = configurationOf(definition);
    if (serializer === null) {
      if (name === "transpose") orders.push(configuration.order);
      else if (name === "bytes" || name === "sharding_indexed") serializer = definition;
      else throw new NotSupported(`the codec ${name} is not supported by browsers`);
    } else if (name === "crc32c") {
      decoders.unshift(verifyChecksum);
    } else if (name === "numcodecs.shuffle") {
      decoders.unshift((data) => unshuffle(data, configuration.elementsize ?? 4));
    } else if (name in DECODERS) {
      decoders.unshift(wrapped(name));
    } else if (name in STREAMS) {
      decoders.unshift(inflate(name));
    } else {
      throw new NotSupported(`the codec ${name} is not supported by browsers`);
    }
  }
  if (serializer === null) throw new NotSupported("there is no array -> bytes codec");
  if (orders.some((order) => !Array.isArray(order))) {
    throw new NotSupported("an old form of transpose is not supported");
  }
  return { orders, serializer, decoders };
}

/** Decode the bytes -> bytes codecs of a chain. */
export async function decodeBytes(data, chain) {
  let bytes = data;
  for (const step of chain.decoders) bytes = await step(bytes);
  return bytes;
}

function wrapped(name) {
  return (data) => {
    try {
      return DECODERS[name](data);
    } catch (error) {
      throw new Error(`a damaged chunk: invalid ${name} data: ${error.message}`);
    }
  };
}

function inflate(name) {
  const format = STREAMS[name];
  try {
    new DecompressionStream(format);
  } catch {
    throw new NotSupported(`this browser does not support the codec ${name}`);
  }
  return async (data) => {
    const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream(format));
    try {
      return new Uint8Array(await new Response(stream).arrayBuffer());
    } catch {
      throw new Error(`a damaged chunk: invalid ${name} data`);
    }
  };
}

function unshuffle(data, size) {
  const count = Math.floor(data.length / size);
  const result = data.slice();
  for (let byte = 0; byte < size; byte += 1) {
    for (let item = 0; item < count; item += 1) {
      result[item * size + byte] = data[byte * count + item];
    }
  }
  return result;
}

let table = null;

/** Return the CRC-32C checksum (Castagnoli polynomial) of bytes. */
function crc32c(data) {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let rest = byte;
    for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0x82f63b78 : rest >>> 1;
    return rest;
  });
  let sum = 0xffffffff;
  for (let at = 0; at < data.length; at += 1) {
    sum = (sum >>> 8) ^ table[(sum ^ data[at]) & 0xff];
  }
  return (sum ^ 0xffffffff) >>> 0;
}

/** Verify the checksum at the end and return the bytes before it. */
export function verifyChecksum(stored) {
  if (stored.length < 4) throw new Error("a damaged chunk: too short for a checksum");
  const data = stored.subarray(0, -4);
  const sum = new DataView(stored.buffer, stored.byteOffset + data.length, 4);
  if (crc32c(data) !== sum.getUint32(0, true)) {
    throw new Error("a damaged chunk: the checksum does not match");
  }
  return data;
}
