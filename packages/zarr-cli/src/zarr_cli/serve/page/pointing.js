// Pointing at the cells of a picture, with a pointer or with the arrow keys; dragging it.

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * Call `told(row, column)` when a cell of `canvas` is pointed at, `told(null)` when none is.
 *
 * `size` gives [rows, columns]; `upward` whether row 0 is the lowest.
 */
export function pointing(canvas, size, told, upward = () => false) {
  let cell = null;
  const point = (row, column) => {
    const [rows, columns] = size();
    cell = [Math.min(rows - 1, Math.max(0, row)), Math.min(columns - 1, Math.max(0, column))];
    told(...cell);
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
  canvas.addEventListener("pointerleave", () => told(null));
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
 * Let a picture be dragged while `mayMove()`; then call `moved(down, across)` with how far
 * what is shown has to move, in parts of the picture.
 */
export function dragging(canvas, mayMove, moved) {
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
      moved(-down / canvas.offsetHeight, -right / canvas.offsetWidth);
  });
  canvas.addEventListener("pointercancel", () => {
    from = null;
    put(0, 0);
  });
}
