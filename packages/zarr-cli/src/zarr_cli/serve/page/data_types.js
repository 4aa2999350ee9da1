// Numeric data types: element sizes and typed arrays.

const NUMBERS = {
  bool: [1, "u"],
  int8: [1, "i"],
  int16: [2, "i"],
  int32: [4, "i"],
  int64: [8, "i"],
  uint8: [1, "u"],
  uint16: [2, "u"],
  uint32: [4, "u"],
  uint64: [8, "u"],
  float16: [2, "f"],
  float32: [4, "f"],
  float64: [8, "f"],
  complex64: [8, "c"],
  complex128: [16, "c"],
};

/** Return {size, kind} of a data type of version 3, or null if it is not numeric. */
export function numberType(definition) {
  const found = typeof definition === "string" ? NUMBERS[definition] : undefined;
  return found ? { size: found[0], kind: found[1] } : null;
}

const VIEWS = {
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

/** Return little-endian bytes as an array of elements; complex elements are pairs. */
export function elementsOf(buffer, kind, size) {
  if (kind === "f" && size === 2) return Float32Array.from(new Uint16Array(buffer), halfToNumber);
  return new VIEWS[`${kind}${size}`](buffer);
}

/** Convert the bits of a float16 to a number. */
function halfToNumber(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Return the bytes of a fill value in metadata, or null if it is not supported. */
export function fillBytes(value, type, little) {
  const bytes = new Uint8Array(type.size);
  const view = new DataView(bytes.buffer);
  const parts = type.kind === "c" ? value : [value];
  const size = type.kind === "c" ? type.size / 2 : type.size;
  if (!Array.isArray(parts) || parts.length * size !== type.size) return null;
  for (const [at, part] of parts.entries()) {
    if (!putNumber(view, at * size, part, type.kind, size, little)) return null;
  }
  return bytes;
}

const NAMED = { NaN, Infinity, "-Infinity": -Infinity };

function putNumber(view, at, given, kind, size, little) {
  if (kind === "i" || kind === "u") {
    const number = Number(given);
    if (!Number.isSafeInteger(number)) return false;
    if (size === 8) view.setBigInt64(at, BigInt(number), little);
    else if (size === 4) view.setInt32(at, number, little);
    else if (size === 2) view.setInt16(at, number, little);
    else view.setInt8(at, number);
    return true;
  }
  const number = typeof given === "number" ? given : NAMED[given];
  if (number === undefined) return false;
  if (size === 8) view.setFloat64(at, number, little);
  else if (size === 4) view.setFloat32(at, number, little);
  else {
    const bits = numberToHalf(number);
    if (bits === null) return false;
    view.setUint16(at, bits, little);
  }
  return true;
}

/** Return the bits of a number as float16, or null if it is not exactly representable. */
function numberToHalf(number) {
  if (Number.isNaN(number)) return 0x7e00;
  for (let bits = 0; bits < 1 << 16; bits += 1) {
    if (Object.is(halfToNumber(bits), number)) return bits;
  }
  return null;
}
