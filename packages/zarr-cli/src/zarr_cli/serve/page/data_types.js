// Elements of numeric data types as typed arrays.

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
