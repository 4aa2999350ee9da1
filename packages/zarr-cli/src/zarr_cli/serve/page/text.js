// Formatting of numbers, shapes and names.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Format a number of bytes. */
export function bytes(count) {
  let size = count;
  let unit = 0;
  while (size >= 1023.95 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${count} B` : `${size.toFixed(1)} ${UNITS[unit]}`;
}

/** Format an integer with thousands separators. */
export function whole(count) {
  return count.toLocaleString("en-US");
}

/** Format an element with at most seven significant digits. */
export function number(value) {
  if (typeof value === "bigint") return value.toString();
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  if (!Number.isFinite(value)) return String(value).replace("Infinity", "∞");
  return String(Number(value.toPrecision(7)));
}

/** Format an element of a window, real or complex. */
export function elementText({ kind, data }, at) {
  return kind === "c" ? `${number(data[2 * at])} + ${number(data[2 * at + 1])}i` : number(data[at]);
}

/** Format a shape. */
export function shape(lengths) {
  return lengths.length ? lengths.join(" × ") : "scalar";
}

/** Return the last part of a path; "/" for the root. */
export function nameOf(path) {
  return path ? path.slice(path.lastIndexOf("/") + 1) : "/";
}
