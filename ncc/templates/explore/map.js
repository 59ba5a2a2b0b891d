// A map of the functions' vectors: a point for each, those that are searched for in color.

const SIDE = 4095, POINT = 3;

class VectorMap extends View {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{x: number[], y: number[], name: string[]}} columns
   * @param {(number: number) => void} open
   */
  constructor(canvas, columns, open) {
    super(canvas);
    this.columns = columns;
    this.open = open;
    this.chosen = -1;
    /** @type {number[]} */
    this.near = [];
    /** @type {ArrayLike<number>} */
    this.listed = [];
    this.isFitted = false;
    this.all = Int32Array.from(columns.x.keys());
  }
  fit() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.scale = Math.min(width, height) * 0.92 / SIDE || 1;
    this.left = (width - this.scale * SIDE) / 2;
    this.top = (height - this.scale * SIDE) / 2;
    this.isFitted = width > 0;
    this.redraw();
  }
  select(/** @type {number} */ number, /** @type {number[]} */ near) {
    this.chosen = number;
    this.near = near;
    this.redraw();
  }
  place(/** @type {number} */ number) {
    return [this.left + this.scale * this.columns.x[number], this.top + this.scale * this.columns.y[number]];
  }
  /** @override */
  draw() {
    if (!this.isFitted) this.fit();
    const { ratio, width, height } = this.clear(), { context, columns, listed } = this, isSearched = listed.length < columns.x.length;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const points = (/** @type {ArrayLike<number>} */ numbers, /** @type {string} */ color, /** @type {number} */ size) => {
      context.fillStyle = color;
      for (let i = 0; i < numbers.length; i++) {
        const x = this.left + this.scale * columns.x[numbers[i]], y = this.top + this.scale * columns.y[numbers[i]];
        if (x > -size && x < width + size && y > -size && y < height + size) context.fillRect(x - size / 2, y - size / 2, size, size);
      }
    };
    context.globalAlpha = isSearched ? 0.25 : 0.6;
    points(this.all, colors.dim, POINT);
    context.globalAlpha = 1;
    if (isSearched) points(listed, colors.gpu, POINT + 1);
    if (this.chosen < 0) return;
    const [x, y] = this.place(this.chosen);
    context.strokeStyle = colors.cpu;
    context.beginPath();
    for (const other of this.near) {
      context.moveTo(x, y);
      context.lineTo(...(/** @type {[number, number]} */ (this.place(other))));
    }
    context.stroke();
    points(this.near, colors.cpu, POINT + 2);
    context.lineWidth = 2;
    context.strokeRect(x - 6, y - 6, 12, 12);
  }
  /** The function nearest to a place, in one direction from another if that is wanted; -1 for none. */
  nearest(/** @type {number} */ x, /** @type {number} */ y, most = Infinity, alongX = 0, alongY = 0) {
    let best = -1, least = most * most;
    for (let i = 0; i < this.listed.length; i++) {
      const number = this.listed[i], [px, py] = this.place(number), dx = px - x, dy = py - y, distance = dx * dx + dy * dy;
      const isAhead = !(alongX || alongY) || (number !== this.chosen && dx * alongX + dy * alongY > 0.7 * Math.sqrt(distance));
      if (distance < least && isAhead) [best, least] = [number, distance];
    }
    return best;
  }
  /** @override */
  hover(/** @type {number} */ x, /** @type {number} */ y) {
    const number = x < 0 && y < 0 ? -1 : this.nearest(x, y, 8);
    return number < 0 ? "" : this.columns.name[number];
  }
  /** @override */
  click(/** @type {number} */ x, /** @type {number} */ y) {
    const number = this.nearest(x, y, 12);
    if (number >= 0) this.open(number);
  }
  /** @override @returns {Record<string, () => void>} */
  keys() {
    const go = (/** @type {number} */ alongX, /** @type {number} */ alongY) => () => {
      const [x, y] = this.place(Math.max(this.chosen, 0)), number = this.nearest(x, y, Infinity, alongX, alongY);
      if (number >= 0) this.open(number);
    };
    return {
      ArrowRight: go(1, 0), ArrowLeft: go(-1, 0), ArrowDown: go(0, 1), ArrowUp: go(0, -1),
      "+": () => this.zoom(1.3), "=": () => this.zoom(1.3), "-": () => this.zoom(1 / 1.3), 0: () => this.fit(),
    };
  }
}
