// Numbers as people read them.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** A number of bytes. */
export function bytes(count) {
  let size = count;
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${count} B` : `${size.toFixed(1)} ${UNITS[unit]}`;
}

/** A whole number, with its thousands apart. */
export function whole(count) {
  return count.toLocaleString("en-US").replaceAll(",", "\u202f");
}

/** An element as text: short, and not rounded more than it must be. */
export function number(value) {
  if (typeof value === "bigint") return value.toString();
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  if (!Number.isFinite(value)) return String(value).replace("Infinity", "∞");
  return String(Number(value.toPrecision(7)));
}

/** An element of what was read, complex or not. */
export function elementText({ kind, data }, at) {
  return kind === "c" ? `${number(data[2 * at])} + ${number(data[2 * at + 1])}i` : number(data[at]);
}

/** A shape. */
export function shape(lengths) {
  return lengths.length ? lengths.join(" × ") : "one element";
}

/** The last part of a path; the root has a name of its own. */
export function nameOf(path) {
  return path ? path.slice(path.lastIndexOf("/") + 1) : "/";
}
