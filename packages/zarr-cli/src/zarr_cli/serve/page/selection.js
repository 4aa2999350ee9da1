// The visible window of an array: two dimensions, an index for the others, a step.

const MOST_BYTES = 128 << 20; // maximum of decoded chunks for a window
const INITIAL_BYTES = 32 << 20; // the same, for the initial window

const MOST_SAMPLES = 512; // per side of an image
const MOST_POINTS = 2048; // per line
const MOST_TEXTS = 100; // per side of a table of text

/** A movable window; dimensions that are not across or down have one index. */
export class View {
  constructor(source) {
    this.source = source;
    const { shape } = source.node;
    this.shape = shape;
    this.across = shape.length - 1;
    this.down = shape.length > 1 ? shape.length - 2 : null;
    this.at = shape.map((length) => Math.floor((length - 1) / 2));
    this.starts = shape.map(() => 0);
    this.whole();
  }

  /** The maximum number of samples per side. */
  get most() {
    if (this.source.node.elements === "text") return MOST_TEXTS;
    return this.down === null ? MOST_POINTS : MOST_SAMPLES;
  }

  /** The visible dimensions. */
  get sides() {
    return this.down === null ? [this.across] : [this.down, this.across];
  }

  /** Select the two visible dimensions. */
  draw(down, across) {
    this.down = down;
    this.across = across;
    this.whole();
  }

  /** Show everything, with a step, or as much as may be read at once. */
  whole() {
    const longest = Math.max(1, ...this.sides.map((axis) => this.shape[axis]));
    this.step = this.stepFor(longest);
    this.starts = this.shape.map(() => 0);
    this.span = this.step * this.most;
    while (this.cost() > INITIAL_BYTES && this.span > 16) {
      this.span = Math.floor(this.span / 2);
      this.step = this.stepFor(this.span);
    }
  }

  /** Zoom in (factor below 1) or out, around the same centre. */
  zoom(factor) {
    const longest = Math.max(1, ...this.sides.map((axis) => this.shape[axis]));
    const middles = this.sides.map(
      (axis) => this.starts[axis] + Math.min(this.span, this.shape[axis]) / 2,
    );
    const before = [this.span, this.step, this.starts];
    this.span = Math.min(Math.max(8, Math.round(Math.min(this.span, longest) * factor)), longest);
    this.step = this.stepFor(this.span);
    this.span = Math.min(this.span, this.step * this.most);
    this.starts = [...this.starts];
    this.sides.forEach((axis, side) => {
      this.starts[axis] = this.limited(axis, middles[side] - this.span / 2);
    });
    if (this.cost() <= MOST_BYTES) return true;
    [this.span, this.step, this.starts] = before;
    return false;
  }

  /** Move the window by a fraction of its size. */
  move(down, across) {
    this.moveBy(down * this.span, across * this.span);
  }

  /** Move the window by a number of elements. */
  moveBy(down, across) {
    const far = [down, across].slice(-this.sides.length);
    this.sides.forEach((axis, side) => {
      this.starts[axis] = this.limited(axis, this.starts[axis] + far[side]);
    });
  }

  /** Return the step between shown elements; text is shown without a step. */
  stepFor(span) {
    if (this.source.node.elements === "text") return 1;
    return Math.max(1, Math.ceil(span / this.most));
  }

  limited(axis, start) {
    return Math.max(0, Math.min(this.shape[axis] - this.span, Math.round(start)));
  }

  /** Whether the window contains all elements of the visible dimensions. */
  get isWhole() {
    return this.sides.every((axis) => this.span >= this.shape[axis]);
  }

  /** The number of rows and columns. */
  get size() {
    const selection = this.selection();
    return [
      this.down === null ? 1 : selection[this.down].count,
      selection[this.across]?.count ?? 1,
    ];
  }

  /** Return the flat index of a row and a column in the data, which is in dimension order. */
  placeOf(row, column) {
    const [rows, columns] = this.size;
    return this.down !== null && this.down > this.across
      ? column * rows + row
      : row * columns + column;
  }

  /** Return the array index of a row and a column. */
  indexOf(row, column) {
    const selection = this.selection();
    return selection.map(({ start, step }, axis) => {
      if (axis === this.down) return start + row * step;
      return axis === this.across ? start + column * step : start;
    });
  }

  cost() {
    return this.source.cost(this.selection());
  }

  /** Return {start, count, step} for each dimension. */
  selection() {
    return this.shape.map((length, axis) => {
      if (!this.sides.includes(axis)) return { start: this.at[axis], count: 1, step: 1 };
      const start = this.starts[axis];
      const stop = Math.min(length, start + this.span);
      return { start, count: Math.ceil((stop - start) / this.step), step: this.step };
    });
  }
}
