// A list of any length, of which only the rows in view are elements.

const ROW_HEIGHT = 20, MARGIN = 4;

class List {
  /**
   * @param {HTMLElement} box
   * @param {(index: number, row: HTMLElement) => void} draw fills a row
   * @param {(index: number) => void} choose
   */
  constructor(box, draw, choose) {
    this.box = box;
    this.drawRow = draw;
    this.choose = choose;
    this.size = 0;
    this.active = -1;
    this.waiting = false;
    this.isGrid = box.getAttribute("role") === "grid";
    box.classList.add("list");
    this.inner = make("div", "", box, "inner");
    this.inner.setAttribute("role", this.isGrid ? "rowgroup" : "presentation");
    box.addEventListener("scroll", () => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(box);
    this.inner.addEventListener("click", (/** @type {MouseEvent} */ e) => { // rows may be new since the button went down
      const index = Math.floor((e.clientY - this.inner.getBoundingClientRect().top) / ROW_HEIGHT);
      if (index >= 0 && index < this.size) this.pick(index);
    });
    box.addEventListener("keydown", e => this.press(e));
  }
  /** @param {KeyboardEvent} e */
  press(e) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / ROW_HEIGHT) - 2);
    const steps = /** @type {Record<string, number>} */ ({
      ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.size, End: this.size,
    });
    if (!this.size || e.target !== this.box || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key in steps) {
      e.preventDefault();
      const to = Math.min(Math.max(this.active + steps[e.key], 0), this.size - 1);
      if (this.isGrid) this.show(to); // Enter opens it
      else this.pick(to);
    } else if (e.key === "Enter" && this.active >= 0) {
      e.preventDefault();
      this.pick(this.active);
    }
  }
  pick(/** @type {number} */ index) {
    this.show(index);
    this.choose(index);
  }
  /** Have this many rows. */
  resize(/** @type {number} */ size) {
    this.size = size;
    this.inner.style.height = `${size * ROW_HEIGHT}px`;
    if (this.isGrid) this.box.setAttribute("aria-rowcount", String(size + 1));
    this.redraw();
  }
  /** Make a row the active one, and bring it into view. */
  show(/** @type {number} */ index) {
    this.active = index;
    const top = index * ROW_HEIGHT, { scrollTop, clientHeight } = this.box, heading = this.inner.offsetTop;
    if (index >= 0 && (top < scrollTop || top + heading + ROW_HEIGHT > scrollTop + clientHeight)) {
      this.box.scrollTop = top - (clientHeight - heading) / 2;
    }
    this.redraw();
  }
  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }
  draw() {
    const { scrollTop, clientHeight } = this.box, rows = document.createDocumentFragment();
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - MARGIN);
    const last = Math.min(this.size, Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + MARGIN);
    for (let index = first; index < last; index++) {
      const row = make("div", "", rows, "row");
      row.id = `${this.box.id}-${index}`;
      row.style.top = `${index * ROW_HEIGHT}px`;
      row.setAttribute("role", this.isGrid ? "row" : "option");
      row.setAttribute("aria-selected", String(index === this.active));
      row.setAttribute(this.isGrid ? "aria-rowindex" : "aria-posinset", String(index + (this.isGrid ? 2 : 1)));
      if (!this.isGrid) row.setAttribute("aria-setsize", String(this.size));
      this.drawRow(index, row);
    }
    this.inner.replaceChildren(rows);
    if (first <= this.active && this.active < last) this.box.setAttribute("aria-activedescendant", `${this.box.id}-${this.active}`);
    else this.box.removeAttribute("aria-activedescendant");
  }
}
