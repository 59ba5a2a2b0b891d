"use strict";
// What every part of the page uses: the data, elements whose text is only ever text, and colors.

/** @type {Map<string, (packed: string) => void>} */
const awaited = new Map();

/**
 * Take the data of a file beside the page, which calls this.
 * @param {string} name
 * @param {string} packed
 */
function receive(name, packed) {
  awaited.get(name)?.(packed);
}

/** @param {string} packed @returns {Promise<any>} */
async function unpack(packed) {
  const text = atob(packed), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

/**
 * Load data by name: from the page, or by a script from a file beside it, since a page of a folder may fetch nothing.
 * @param {string} name
 * @returns {Promise<any>}
 */
function load(name) {
  const island = document.getElementById(`data:${name}`);
  if (island) return unpack(island.textContent ?? "");
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const end = () => {
      awaited.delete(name);
      script.remove();
      reject(new Error(`${name}.js can't be read; is the page still served, or its folder whole?`));
    };
    awaited.set(name, packed => resolve(unpack(packed)));
    for (const event of ["load", "error"]) script.addEventListener(event, end); // too late to reject what was received
    script.src = `${name}.js`;
    document.head.append(script);
  });
}

/** @param {string} id @returns {any} */
const byId = id => document.getElementById(id);

/**
 * Make an element with a text inside another one.
 * @param {string} tag
 * @param {string} text
 * @param {Element | DocumentFragment} inside
 * @param {string} [className]
 * @returns {any}
 */
function make(tag, text, inside, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  inside.append(made);
  return made;
}

/**
 * Make a button.
 * @param {string} text
 * @param {Element} inside
 * @param {() => void} act
 */
function makeButton(text, inside, act) {
  const button = make("button", text, inside);
  button.type = "button";
  button.addEventListener("click", act);
  return button;
}

/**
 * Hand a file to the reader.
 * @param {string} name
 * @param {Blob | null} blob
 */
function save(name, blob) {
  if (!blob) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** @type {Record<string, string>} */
const colors = {};
function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "dim", "line", "paper", "hit", "chosen", "gpu", "cpu", "link", "path-edge", "data-edge", "control-edge"]) {
    colors[name] = style.getPropertyValue(`--${name}`).trim();
  }
}

const tip = byId("tip");
/** @param {string} text @param {number} x @param {number} y */
function showTip(text, x, y) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 4))}px`;
  tip.style.top = `${y + 14 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 10 : y + 14}px`;
}

/** A canvas that is panned by mouse and fingers, zoomed by wheel, and drawn at most once a frame. */
class View {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.scale = 1;
    this.left = 0;
    this.top = 0;
    this.waiting = false;
    this.moved = 0;
    /** @type {Map<number, [number, number]>} */
    this.pointers = new Map();
    canvas.addEventListener("pointerdown", e => {
      this.pointers.set(e.pointerId, [e.offsetX, e.offsetY]);
      canvas.setPointerCapture(e.pointerId);
      this.moved = 0;
    });
    canvas.addEventListener("pointermove", e => this.move(e));
    canvas.addEventListener("pointerup", e => {
      this.pointers.delete(e.pointerId);
      if (this.moved < 5) this.click(e.offsetX, e.offsetY);
    });
    canvas.addEventListener("pointercancel", e => this.pointers.delete(e.pointerId));
    canvas.addEventListener("pointerleave", () => { this.hover(-1, -1); showTip("", 0, 0); });
    canvas.addEventListener("wheel", e => {
      e.preventDefault();
      this.zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), e.offsetX, e.offsetY);
    }, { passive: false });
    canvas.addEventListener("keydown", e => {
      const act = /** @type {any} */ (this.keys())[e.key];
      if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      act();
    });
    new ResizeObserver(() => this.redraw()).observe(canvas);
  }
  /** @param {PointerEvent} e */
  move(e) {
    const before = this.pointers.get(e.pointerId), x = e.offsetX, y = e.offsetY;
    if (before) {
      const other = [...this.pointers].find(([id]) => id !== e.pointerId)?.[1];
      if (other) {
        this.zoom(Math.hypot(x - other[0], y - other[1]) / (Math.hypot(before[0] - other[0], before[1] - other[1]) || 1), ...other);
      } else {
        this.left += x - before[0];
        this.top += y - before[1];
      }
      this.moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
      this.pointers.set(e.pointerId, [x, y]);
      this.redraw();
    }
    showTip(this.hover(x, y), e.clientX, e.clientY);
  }
  zoom(/** @type {number} */ factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    factor = Math.min(Math.max(this.scale * factor, 1e-3), 64) / this.scale;
    this.left = x - (x - this.left) * factor;
    this.top = y - (y - this.top) * factor;
    this.scale *= factor;
    this.redraw();
  }
  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }
  /** Clear the canvas; returns pixels of the device for one of the page, the width and the height. */
  clear() {
    const ratio = devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = this.canvas;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    return { ratio, width, height };
  }
  save(/** @type {string} */ name) {
    this.draw();
    this.canvas.toBlob(blob => save(name, blob));
  }
  draw() {}
  /** @returns {Record<string, () => void>} */
  keys() { return {}; }
  // eslint-disable-next-line no-unused-vars
  click(/** @type {number} */ x, /** @type {number} */ y) {}
  // eslint-disable-next-line no-unused-vars
  hover(/** @type {number} */ x, /** @type {number} */ y) { return ""; }
}
