// zarrita.js (https://github.com/manzt/zarrita.js) on Node.js.  It can neither list nodes nor
// change attributes.  Run `npm install zarrita`, then start this in the same folder, or with
// NODE_PATH set to its node_modules folder.

import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

console.log = console.info = console.error; // standard output is for responses
// Of several unknown codecs of an array, zarrita reports one.  The promises of the others would end Node.js.
process.on("unhandledRejection", () => {});

function find(name) {
  const folders = (process.env.NODE_PATH ?? "").split(":").filter(Boolean);
  for (const parent of [...folders, "node_modules"]) {
    try {
      const folder = resolve(parent, name);
      return [folder, JSON.parse(readFileSync(join(folder, "package.json"), "utf-8"))];
    } catch {
      continue;
    }
  }
  throw new Error(`${name} is not in NODE_PATH`);
}

const [folder, about] = find("zarrita");
const [storage, stores] = find("@zarrita/storage");
const zarr = await import(pathToFileURL(join(folder, about.exports["."].import)));
const files = await import(pathToFileURL(join(storage, stores.exports["./fs"].import)));

const CATEGORIES = {
  NotFoundError: "missing",
  InvalidMetadataError: "metadata",
  UnknownCodecError: "extension",
  CodecPipelineError: "chunk",
  UnsupportedError: "unsupported",
};

const location = (request) => zarr.root(new files.default(request.store)).resolve(`/${request.path}`);

async function opened(request) {
  if (request.zarr_format === 3) return zarr.open.v3(location(request));
  try {
    return await zarr.open.v2(location(request), { kind: "array" });
  } catch (error) {
    if (error?.name !== "NotFoundError") throw error; // otherwise it reports a missing group
    return zarr.open.v2(location(request), { kind: "group" });
  }
}

function categoryOf(error) {
  if (error?.cause?.name === "UnsupportedError") return "unsupported"; // it only decodes that
  const unknown = /^(Unknown or unsupported dataType|Unsupported or unknown dtype)/;
  if (unknown.test(error?.message)) return "extension";
  return CATEGORIES[error?.name] ?? "other";
}

// JSON.stringify() rounds large integers once more; what stands between marks is put in as it is.
const written = (n) => (Number.isInteger(n) && !Number.isSafeInteger(n) ? `#${BigInt(n)}#` : n);
const json = (response) => JSON.stringify(response).replace(/"#(-?\d+)#"/g, "$1");

function describe(node, request) {
  const known = { node_type: node.kind, attributes: node.attrs ?? {} };
  if (node.kind === "array") {
    known.shape = Array.isArray(node.shape) ? node.shape.map(written) : node.shape;
    if (request.zarr_format === 3) known.dimension_names = node.dimensionNames ?? null;
  }
  return known;
}

/** Numbers of the elements in C order, for data that lies by these strides. */
function places(shape, stride, from = 0) {
  if (shape.length === 0) return [from];
  return Array.from({ length: shape[0] }).flatMap((_, n) =>
    places(shape.slice(1), stride.slice(1), from + n * stride[0]),
  );
}

async function read(request) {
  const array = await opened(request);
  if (array.kind !== "array") throw new Error("not an array");
  const part = request.selection?.map((it) => zarr.slice(...it)) ?? null;
  const { data, shape, stride } = array.shape.length
    ? await zarr.get(array, part)
    : await array.getChunk([]);
  const order = places(shape, stride);
  if (Array.isArray(data)) {
    writeFileSync(request.into, JSON.stringify(order.map((n) => data[n])));
    return { ...describe(array, request), kind: "json" };
  }
  const size = data.BYTES_PER_ELEMENT;
  const bytes = Buffer.from(data.buffer, data.byteOffset ?? 0, data.byteLength);
  writeFileSync(request.into, Buffer.concat(order.map((n) => bytes.subarray(n * size, (n + 1) * size))));
  return { ...describe(array, request), kind: "raw" };
}

const NUMBERS = { NaN: Number.NaN, Infinity: Number.POSITIVE_INFINITY, "-Infinity": -Infinity };

async function create(request) {
  if (!("shape" in request.document)) {
    const { zarr_format, attributes } = request.document;
    if (zarr_format !== 3) throw Object.assign(new Error("only groups of format 3 can be created"), { name: "UnsupportedError" });
    await zarr.create(location(request), { attributes });
    return {};
  }
  const { shape, data_type, chunk_grid, codecs, ...rest } = request.document;
  const keys = rest.chunk_key_encoding;
  const isSupported = request.zarr_format === 3 && chunk_grid.name === "regular" && keys.name === "default";
  if (!isSupported || rest.storage_transformers?.length) {
    throw Object.assign(new Error("create() does not support this metadata"), { name: "UnsupportedError" });
  }
  const array = await zarr.create(location(request), {
    shape,
    dtype: data_type,
    chunkShape: chunk_grid.configuration.chunk_shape,
    chunkSeparator: keys.configuration?.separator,
    codecs,
    fillValue: data_type.startsWith?.("float") ? (NUMBERS[rest.fill_value] ?? rest.fill_value) : rest.fill_value,
    dimensionNames: rest.dimension_names,
    attributes: rest.attributes,
  });
  if (!request.values) return {};
  // A missing chunk determines the type of its elements.
  const { data: sample } = await array.getChunk(shape.map(() => 0));
  const data = new sample.constructor(shape.reduce((a, b) => a * b, 1));
  const stride = shape.map((_, n) => shape.slice(n + 1).reduce((a, b) => a * b, 1));
  const values = readFileSync(request.values);
  if (request.kind === "json") JSON.parse(values).forEach((it, n) => (data[n] = it));
  else Buffer.from(data.buffer, data.byteOffset ?? 0, data.byteLength).set(values);
  await zarr.set(array, shape.length ? null : [], shape.length ? { data, shape, stride } : scalar(data));
  return {};
}

async function write(request) {
  const array = await opened(request);
  const { data: sample } = await array.getChunk(array.shape.map(() => 0));
  const shape = request.selection.map(([start, stop, step]) => Math.max(0, Math.ceil((stop - start) / step)));
  const data = new sample.constructor(shape.reduce((a, b) => a * b, 1));
  const stride = shape.map((_, n) => shape.slice(n + 1).reduce((a, b) => a * b, 1));
  const bytes = readFileSync(request.values);
  if (request.kind === "json") JSON.parse(bytes).forEach((it, n) => (data[n] = it));
  else Buffer.from(data.buffer, data.byteOffset ?? 0, data.byteLength).set(bytes);
  const part = request.selection.map((it) => zarr.slice(...it));
  await zarr.set(array, part, shape.length ? { data, shape, stride } : scalar(data));
  return {};
}

const scalar = (data) => (data.get ? data.get(0) : data[0]);

const WORK = {
  capabilities: async () => ({
    protocol: 1,
    implementation: "zarrita.js",
    version: about.version,
    formats: [2, 3],
    operations: ["open", "read", "create", "write"],
  }),
  open: async (request) => describe(await opened(request), request),
  read,
  create,
  write,
};

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let response;
  try {
    if (!(request.operation in WORK)) {
      throw Object.assign(new Error(`no operation ${request.operation}`), { name: "UnsupportedError" });
    }
    response = json({ id: request.id, result: await WORK[request.operation](request) });
  } catch (error) {
    const details = {
      category: categoryOf(error),
      type: error?.name ?? "unknown",
      message: [error?.message ?? error, error?.cause?.message].filter(Boolean).join(": "),
    };
    response = json({ id: request.id, error: details });
  }
  process.stdout.write(`${response}\n`);
}
