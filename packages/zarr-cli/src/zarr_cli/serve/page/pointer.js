// Pointing at cells of an image with a pointer or the arrow keys, and dragging an image.

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

/**
 * Let an image be dragged while `mayMove()` is true. At the end, call `onMove(down, across)`
 * with the distance as a fraction of the image.
 */
export function enableDragging(canvas, mayMove, onMove) {
  let from = null;
  const put = (x, y) => {
    canvas.style.transform = x || y ? `translate(${x}px, ${y}px)` : "";
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (!mayMove() || event.button !== 0) return;
    from = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (from) put(event.clientX - from[0], event.clientY - from[1]);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!from) return;
    const [right, down] = [event.clientX - from[0], event.clientY - from[1]];
    from = null;
    put(0, 0);
    if (Math.hypot(right, down) > 4)
      onMove(-down / canvas.offsetHeight, -right / canvas.offsetWidth);
  });
  canvas.addEventListener("pointercancel", () => {
    from = null;
    put(0, 0);
  });
}
