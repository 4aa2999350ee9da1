// Pointing at cells of an image with a pointer or the arrow keys.

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * Call `onCell(row, column)` when a cell of `canvas` is pointed at, `onCell(null)` at the end.
 *
 * `size` returns [rows, columns]; `upward` returns whether row 0 is at the bottom.
 */
export function trackPointer(canvas, size, onCell, upward = () => false) {
  let cell = null;
  const point = (row, column) => {
    const [rows, columns] = size();
    cell = [Math.min(rows - 1, Math.max(0, row)), Math.min(columns - 1, Math.max(0, column))];
    onCell(...cell);
  };
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const [rows, columns] = size();
    const down = Math.floor(((event.clientY - box.top) / box.height) * rows);
    point(
      upward() ? rows - 1 - down : down,
      Math.floor(((event.clientX - box.left) / box.width) * columns),
    );
  });
  canvas.addEventListener("pointerleave", () => onCell(null));
  canvas.addEventListener("keydown", (event) => {
    if (!(event.key in STEPS)) return;
    event.preventDefault();
    const [down, right] = STEPS[event.key];
    const far = event.shiftKey ? 10 : 1;
    const [row, column] = cell ?? [0, 0];
    point(row + down * far * (upward() ? -1 : 1), column + right * far);
  });
}
