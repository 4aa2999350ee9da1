// Drawing of numbers as an image.

import { colours, isCentred } from "./colours.js";

/** Return the least and greatest finite number, or [0, 1] if there is none. */
export function limitsOf(numbers, isGap) {
  let least = Infinity;
  let greatest = -Infinity;
  for (let at = 0; at < numbers.length; at += 1) {
    const value = numbers[at];
    if (!Number.isFinite(value) || isGap(value)) continue;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  return least > greatest ? [0, 1] : [least, greatest];
}

/** Return the limits without extremes: the 2nd and 98th percentiles. */
export function robustLimits(numbers, isGap) {
  const sorted = numbers.filter((value) => Number.isFinite(value) && !isGap(value)).sort();
  if (!sorted.length) return [0, 1];
  const at = (part) => sorted[Math.round(part * (sorted.length - 1))];
  return at(0.02) < at(0.98) ? [at(0.02), at(0.98)] : [sorted[0], sorted.at(-1)];
}

/** Make the limits symmetric around zero, for colour maps that are centred. */
export function limitsFor(map, [least, greatest]) {
  if (!isCentred(map)) return [least, greatest];
  const far = Math.max(Math.abs(least), Math.abs(greatest)) || 1;
  return [-far, far];
}

/** Draw numbers, one pixel each; NaN and gaps are transparent. */
export function drawImage(canvas, numbers, rows, columns, { map, limits, isGap, upward }) {
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const table = new Uint32Array(colours(map).buffer);
  const [least, greatest] = limits;
  const scale = greatest > least ? 255 / (greatest - least) : 0;
  for (let row = 0; row < rows; row += 1) {
    const line = (upward ? rows - 1 - row : row) * columns;
    for (let column = 0; column < columns; column += 1) {
      const value = numbers[row * columns + column];
      if (Number.isNaN(value) || isGap(value)) continue;
      const colour = scale ? Math.round((value - least) * scale) : 128;
      pixels[line + column] = table[Math.min(255, Math.max(0, colour))];
    }
  }
  context.putImageData(image, 0, 0);
}

/** Draw the colour scale of a map. */
export function drawScale(canvas, map) {
  canvas.width = 256;
  canvas.height = 1;
  const context = canvas.getContext("2d");
  const image = context.createImageData(256, 1);
  image.data.set(colours(map));
  context.putImageData(image, 0, 0);
}
