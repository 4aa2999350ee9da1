// The codecs that a browser has: what undoes them, or why that cannot be done here.

/** Why something cannot be decoded in the page. */
export class NotHere extends Error {}

const STREAMS = {
  gzip: "gzip",
  "numcodecs.gzip": "gzip",
  "numcodecs.zlib": "deflate",
  zstd: "zstd",
};

/** The name of a definition, which may be a word or an object. */
export const nameOf = (definition) =>
  typeof definition === "string" ? definition : definition.name;

/** The configuration of a definition. */
export const configurationOf = (definition) =>
  (typeof definition === "string" ? undefined : definition.configuration) ?? {};

/**
 * Put the codecs of a document together.
 *
 * Gives {orders, serializer, undo}: orders of the transpositions, the definition of the
 * array to bytes codec, and the functions that undo the others, in the order of decoding.
 * Throws NotHere if one of them is none that a browser has.
 */
export function chainOf(definitions) {
  const orders = [];
  const undo = [];
  let serializer = null;
  for (const definition of definitions) {
    const name = nameOf(definition);
    const configuration = configurationOf(definition);
    if (serializer === null) {
      if (name === "transpose") orders.push(configuration.order);
      else if (name === "bytes" || name === "sharding_indexed") serializer = definition;
      else throw new NotHere(`the codec ${name} is none that a browser has`);
    } else if (name === "crc32c") {
      undo.unshift(checkedAtEnd);
    } else if (name === "numcodecs.shuffle") {
      undo.unshift((data) => unshuffled(data, configuration.elementsize ?? 4));
    } else if (name in STREAMS) {
      undo.unshift(inflating(name));
    } else {
      throw new NotHere(`the codec ${name} is none that a browser has`);
    }
  }
  if (serializer === null) throw new NotHere("no codec makes bytes of the chunks");
  if (orders.some((order) => !Array.isArray(order))) throw new NotHere("an old form of transpose");
  return { orders, serializer, undo };
}

/** Undo the bytes to bytes codecs of a chain. */
export async function unpacked(data, chain) {
  let bytes = data;
  for (const step of chain.undo) bytes = await step(bytes);
  return bytes;
}

function inflating(name) {
  const format = STREAMS[name];
  try {
    new DecompressionStream(format);
  } catch {
    throw new NotHere(`this browser does not have the codec ${name}`);
  }
  return async (data) => {
    const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream(format));
    try {
      return new Uint8Array(await new Response(stream).arrayBuffer());
    } catch {
      throw new Error(`a damaged chunk: it is not what ${name} makes`);
    }
  };
}

function unshuffled(data, size) {
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

/** The checksum of some bytes (Castagnoli's polynomial). */
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

/** Take off the checksum at the end, if it is right. */
export function checkedAtEnd(stored) {
  if (stored.length < 4) throw new Error("a damaged chunk: it is too short for a checksum");
  const data = stored.subarray(0, -4);
  const sum = new DataView(stored.buffer, stored.byteOffset + data.length, 4);
  if (crc32c(data) !== sum.getUint32(0, true)) {
    throw new Error("a damaged chunk: its checksum is another one");
  }
  return data;
}
