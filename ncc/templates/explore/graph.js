// A function's graph: boxes of rows and the edges between them, laid out by ncc.ir.graph.layout.

const COLUMN = 7.25, ROW = 18, LONGEST = 72, KINDS = ["path", "data", "control"];
const MONOSPACE = '12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** @typedef {{x: number, y: number, width: number, height: number, first: number, count: number}} Box */
/** @typedef {{kind: number, by: number, source: number, target: number, curve: number[]}} Edge */

/** Unfold the data of a function, as ncc.ir.graph.draw.function_data has folded them. */
function unfold(/** @type {any} */ data) {
  /** @type {Box[]} */
  const boxes = [];
  const boxOf = new Int32Array(data.labels.length);
  for (let i = 0, first = 0; i < data.boxes.length; i += 4) {
    const [x, y, width, count] = data.boxes.slice(i, i + 4);
    boxes.push({ x: x * COLUMN, y: y * ROW, width: width * COLUMN, height: count * ROW, first, count });
    boxOf.fill(boxes.length - 1, first, first += count);
  }
  /** @type {Edge[][]} */
  const touching = Array.from(boxOf, () => []);
  let by = 0;
  /** @type {Edge[]} */
  const edges = data.kind.map((/** @type {number} */ kind, /** @type {number} */ i) => {
    by += data.by[i];
    const source = by + data.source[i], target = by + data.target[i];
    const edge = { kind, by, source, target, curve: curve(boxes[boxOf[source]], source, boxes[boxOf[target]], target, kind) };
    for (const row of new Set([by, source, target])) touching[row].push(edge);
    return edge;
  });
  return { ...data, boxes, boxOf, edges, touching, firstLink: boxOf.length - data.links.length };
}

const middle = (/** @type {Box} */ box, /** @type {number} */ row) => box.y + (row - box.first + 0.5) * ROW;

/**
 * As _curve of ncc.ir.graph.draw.
 * @param {Box} box
 * @param {number} source
 * @param {Box} other
 * @param {number} target
 * @param {number} kind
 */
function curve(box, source, other, target, kind) {
  const right = box.x + box.width, otherRight = other.x + other.width, y1 = middle(box, source), y2 = middle(other, target);
  if (box === other) {
    const [side, way] = kind === 1 ? [right, 1] : [box.x, -1];
    const reach = side + way * Math.min(10 + 4 * Math.abs(target - source), 90);
    return [side, y1, reach, y1, reach, y2, side, y2];
  }
  const isRight = other.x + otherRight > box.x + right, [x1, way] = isRight ? [right, 1] : [box.x, -1];
  if (target === other.first) {
    const x2 = (other.x + otherRight) / 2;
    return [x1, y1, x1 + way * 40, y1, x2, y2 - ROW / 2 - 40, x2, y2 - ROW / 2];
  }
  const apart = isRight ? other.x > right : otherRight < box.x;
  const [x2, back] = isRight === apart ? [other.x, -1] : [otherRight, 1];
  return [x1, y1, x1 + way * 40, y1, x2 + back * 40, y2, x2, y2];
}

/** The color of a row that moves a prediction towards one device or the other, or "". */
function effectColor(/** @type {number} */ effect, /** @type {number} */ strongest) {
  const share = strongest ? Math.abs(effect) / strongest : 0;
  return share < 0.02 ? "" : colors[effect > 0 ? "gpu" : "cpu"] + Math.round(12 + 68 * share).toString(16).padStart(2, "0");
}

class Graph extends View {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {(row: number) => void} choose
   * @param {(number: number) => void} open shows another function
   */
  constructor(canvas, choose, open) {
    super(canvas);
    this.choose = choose;
    this.open = open;
    this.shown = [true, true, true];
    this.shape = /** @type {any} */ (null);
    this.chosen = -1;
    this.hovered = -1;
    /** @type {Set<number>} */
    this.hits = new Set();
    /** @type {string[]} */
    this.shades = [];
    this.ground = document.createElement("canvas"); // all but what is chosen
    /** @type {any[]} */
    this.drawn = [];
  }
  label(/** @type {number} */ row) { return this.shape.labels[row]; }
  show(/** @type {any} */ shape, /** @type {string} */ name) {
    this.shape = shape;
    this.chosen = this.hovered = -1;
    this.canvas.setAttribute("aria-label", shape
      ? `Graph of ${name}: ${shape.labels.length} rows, ${shape.edges.length} edges` : "No graph");
    if (shape) this.fit(false);
    this.redraw();
  }
  /** Make a row the chosen one, and bring it into view. */
  select(/** @type {number} */ row) {
    this.chosen = row;
    if (this.shape && row >= 0) {
      const box = this.shape.boxes[this.shape.boxOf[row]], { clientWidth: w, clientHeight: h } = this.canvas;
      const y = this.top + this.scale * middle(box, row), x = this.left + this.scale * box.x;
      if (y < 20 || y > h - 20) this.top += h / 2 - y;
      if (x < 0 || x > w - 60) this.left += Math.max(w / 2 - this.scale * box.width / 2, 20) - x;
    }
    this.redraw();
  }
  fit(/** @type {boolean} */ whole) {
    let left = Infinity, right = -Infinity, bottom = 0;
    for (const box of this.shape.boxes) {
      left = Math.min(left, box.x - 100);
      right = Math.max(right, box.x + box.width + 100);
      bottom = Math.max(bottom, box.y + box.height);
    }
    const { clientWidth: w, clientHeight: h } = this.canvas, all = Math.min(w / (right - left), h / (bottom + 40), 1.5) || 1;
    this.scale = whole ? all : Math.max(all, 0.6);
    const root = this.shape.boxes[0], isWhole = this.scale <= all;
    this.left = w / 2 - this.scale * (isWhole ? (left + right) / 2 : root.x + root.width / 2);
    this.top = isWhole ? (h - this.scale * bottom) / 2 : 20;
    this.redraw();
  }
  /**
   * @param {Edge[]} edges
   * @param {number} kind
   * @param {{left: number, top: number, right: number, bottom: number}} view
   */
  strokeEdges(edges, kind, view) {
    const { context, scale } = this, heads = new Path2D(), lines = new Path2D();
    context.strokeStyle = context.fillStyle = colors[`${KINDS[kind]}-edge`];
    context.setLineDash(kind === 0 && scale > 0.4 ? [2, 3] : []);
    for (const edge of edges) {
      if (edge.kind !== kind) continue;
      const [x1, y1, x2, y2, x3, y3, x4, y4] = edge.curve;
      if (Math.max(y1, y2, y3, y4) < view.top || Math.min(y1, y2, y3, y4) > view.bottom) continue;
      if (Math.max(x1, x2, x3, x4) < view.left || Math.min(x1, x2, x3, x4) > view.right) continue;
      lines.moveTo(x1, y1);
      lines.bezierCurveTo(x2, y2, x3, y3, x4, y4);
      if (scale < 0.3) continue;
      const long = Math.hypot(x4 - x3, y4 - y3) || 1, dx = 7 * (x4 - x3) / long, dy = 7 * (y4 - y3) / long;
      heads.moveTo(x4, y4);
      heads.lineTo(x4 - dx - dy / 2, y4 - dy + dx / 2);
      heads.lineTo(x4 - dx + dy / 2, y4 - dy - dx / 2);
    }
    context.stroke(lines);
    context.fill(heads);
  }
  /**
   * @param {Box} box
   * @param {number} row
   * @param {string | undefined} back
   */
  drawRow(box, row, back) {
    const { context, scale } = this, text = this.label(row), y = box.y + (row - box.first) * ROW;
    if (back) {
      context.fillStyle = back;
      context.fillRect(box.x, y, box.width, ROW);
    }
    if (scale * ROW < 5) {
      context.fillStyle = colors.dim;
      context.fillRect(box.x + COLUMN, y + 6, Math.min(text.length, LONGEST) * COLUMN, 6);
      return;
    }
    context.fillStyle = colors.ink;
    context.font = (row > box.first || box.first === this.shape.firstLink ? "" : "bold ") + MONOSPACE;
    const shown = text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
    context.fillText(shown, box.x + COLUMN, y + 13, box.width - 2 * COLUMN);
  }
  /**
   * @param {Box} box
   * @param {{left: number, top: number, right: number, bottom: number}} view
   */
  drawBox(box, view) {
    if (box.x > view.right || box.x + box.width < view.left || box.y > view.bottom || box.y + box.height < view.top) return;
    const { context, shape } = this, isOther = box.first === shape.firstLink;
    context.fillStyle = colors.paper;
    context.fillRect(box.x, box.y, box.width, box.height);
    const start = Math.max(0, Math.floor((view.top - box.y) / ROW));
    const end = Math.min(box.count, Math.ceil((view.bottom - box.y) / ROW));
    for (let row = box.first + start; row < box.first + end; row++) this.drawRow(box, row, this.hits.has(row) ? colors.hit : this.shades[row]);
    context.strokeStyle = colors.dim;
    context.setLineDash(isOther ? [4, 3] : []);
    context.strokeRect(box.x, box.y, box.width, box.height);
  }
  draw() {
    const { ratio, width, height } = this.clear(), { context, scale, shape, ground } = this;
    if (!shape || !width || !height) return;
    const view = {
      left: -this.left / scale, top: -this.top / scale, right: (width - this.left) / scale, bottom: (height - this.top) / scale,
    };
    const place = /** @type {const} */ ([ratio * scale, 0, 0, ratio * scale, ratio * this.left, ratio * this.top]);
    const near = shape.touching[this.hovered < 0 ? this.chosen : this.hovered], thin = Math.max(1, 0.7 / scale);
    const parts = [width, height, ...place, Boolean(near), String(this.shown), shape, this.hits, this.shades, colors.paper];
    if (parts.some((part, i) => part !== this.drawn[i])) { // else only what is chosen differs
      this.drawn = parts;
      ground.width = this.canvas.width;
      ground.height = this.canvas.height;
      this.context = /** @type {CanvasRenderingContext2D} */ (ground.getContext("2d"));
      this.context.setTransform(...place);
      this.context.lineWidth = thin;
      const crowd = scale < 0.3 ? Math.max(Math.min(1, 1500 / shape.edges.length), 0.08) : 1;
      this.context.globalAlpha = crowd * (near ? 0.25 : 0.8);
      KINDS.forEach((_, kind) => { if (this.shown[kind]) this.strokeEdges(shape.edges, kind, view); });
      this.context.globalAlpha = 1;
      for (const box of shape.boxes) this.drawBox(box, view);
      this.context = context;
    }
    context.drawImage(ground, 0, 0);
    context.setTransform(...place);
    if (this.chosen >= 0) this.drawRow(shape.boxes[shape.boxOf[this.chosen]], this.chosen, colors.chosen);
    context.lineWidth = 2 * thin;
    KINDS.forEach((_, kind) => { if (near && this.shown[kind]) this.strokeEdges(near, kind, view); });
  }
  rowAt(/** @type {number} */ x, /** @type {number} */ y) {
    const px = (x - this.left) / this.scale, py = (y - this.top) / this.scale;
    const box = this.shape?.boxes.find((/** @type {Box} */ one) =>
      px >= one.x && px < one.x + one.width && py >= one.y && py < one.y + one.height);
    return box ? box.first + Math.floor((py - box.y) / ROW) : -1;
  }
  /** @override */
  hover(/** @type {number} */ x, /** @type {number} */ y) {
    const row = x < 0 && y < 0 ? -1 : this.rowAt(x, y);
    if (row !== this.hovered) {
      this.hovered = row;
      this.redraw();
    }
    return row < 0 ? "" : this.label(row);
  }
  /** @override */
  click(/** @type {number} */ x, /** @type {number} */ y) { this.choose(this.rowAt(x, y)); }
  /** @override @returns {Record<string, () => void>} */
  keys() {
    const { shape, chosen } = this;
    if (!shape) return {};
    const along = (/** @type {"source" | "target"} */ from, /** @type {"source" | "target"} */ to) =>
      shape.touching[chosen]?.find((/** @type {Edge} */ edge) => this.shown[edge.kind] && edge[from] === chosen)?.[to] ?? chosen;
    return {
      ArrowDown: () => this.choose(Math.min(chosen + 1, shape.boxOf.length - 1)),
      ArrowUp: () => this.choose(Math.max(chosen - 1, 0)),
      ArrowRight: () => this.choose(along("source", "target")),
      ArrowLeft: () => this.choose(along("target", "source")),
      Enter: () => { if ((shape.links[chosen - shape.firstLink] ?? -1) >= 0) this.open(shape.links[chosen - shape.firstLink]); },
      "+": () => this.zoom(1.3), "=": () => this.zoom(1.3), "-": () => this.zoom(1 / 1.3), 0: () => this.fit(true),
      Escape: () => this.choose(-1),
    };
  }
}
