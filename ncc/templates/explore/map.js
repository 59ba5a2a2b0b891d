// A map of the functions' vectors: a point for each, those that are searched for in color.

const SIDE = 4095, POINT = 3, FEW = 2000;

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
  /**
   * Set the pixels of points; where points lie on each other they are the more opaque.
   * @param {ImageData} image
   * @param {ArrayLike<number>} numbers
   * @param {string} color
   * @param {number} opacity of one point, at most 255
   * @param {number} size
   */
  setPoints(image, numbers, color, opacity, size) {
    const pixels = new Uint32Array(image.data.buffer), { width, height } = image, ratio = width / this.canvas.clientWidth;
    const [red, green, blue] = [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16));
    const opaque = (blue << 16) | (green << 8) | red, side = Math.max(1, Math.round(size * ratio)), { x, y } = this.columns;
    for (let i = 0; i < numbers.length; i++) {
      const left = Math.round((this.left + this.scale * x[numbers[i]]) * ratio - side / 2);
      const top = Math.round((this.top + this.scale * y[numbers[i]]) * ratio - side / 2);
      if (left < 0 || top < 0 || left + side > width || top + side > height) continue;
      for (let row = 0, at = top * width + left; row < side; row++, at += width) {
        for (let pixel = at; pixel < at + side; pixel++) {
          pixels[pixel] = (opaque | (Math.min(255, (pixels[pixel] >>> 24) + opacity) << 24)) >>> 0;
        }
      }
    }
  }
  /** @override */
  draw() {
    if (!this.isFitted) this.fit();
    const { ratio, width, height } = this.clear(), { context, columns, listed } = this, isSearched = listed.length < columns.x.length;
    if (!width || !height) return;
    const image = context.createImageData(this.canvas.width, this.canvas.height), size = columns.x.length > FEW ? POINT : 2 * POINT;
    this.setPoints(image, this.all, colors.dim, isSearched ? 40 : 110, size);
    if (isSearched) this.setPoints(image, listed, colors.gpu, 255, size + 1);
    context.putImageData(image, 0, 0);
    if (this.chosen < 0) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [x, y] = this.place(this.chosen);
    context.strokeStyle = context.fillStyle = colors.cpu;
    context.beginPath();
    for (const other of this.near) {
      const [otherX, otherY] = this.place(other);
      context.moveTo(x, y);
      context.lineTo(otherX, otherY);
      context.fillRect(otherX - 2.5, otherY - 2.5, 5, 5);
    }
    context.stroke();
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
