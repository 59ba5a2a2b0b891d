// A kernel's launches under a card's roofline, as SVG.

const SVG = "http://www.w3.org/2000/svg", WIDE = 640, HIGH = 300;
const EDGES = { left: 60, right: 16, top: 14, bottom: 40 };

/**
 * @param {string} tag
 * @param {Element} inside
 * @param {Record<string, string | number>} attributes
 * @param {string} [text]
 */
function shape(tag, inside, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  inside.append(made);
  return made;
}

/** A number with a unit of the size: bytes in powers of 1024, all else in powers of 1000. */
function amount(/** @type {number} */ number, /** @type {string} */ unit) {
  const step = unit === "B" ? 1024 : 1000, names = unit === "B" ? ["", "Ki", "Mi", "Gi", "Ti"] : ["", "k", "M", "G", "T", "P"];
  let power = 0;
  while (number >= step && power < names.length - 1) [number, power] = [number / step, power + 1];
  return `${Number(number.toPrecision(3))} ${names[power]}${unit}`;
}

/**
 * Start a plot on logarithmic axes: returns the picture, and where numbers are on either axis.
 * @param {string} label
 * @param {{from: number, to: number, title: string, ticks: [number, string][]}} across
 * @param {{from: number, to: number, title: string, ticks: [number, string][]}} up
 */
function startPlot(label, across, up) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({ xmlns: SVG, viewBox: `0 0 ${WIDE} ${HIGH}`, width: WIDE, height: HIGH, role: "img" })) {
    svg.setAttribute(name, String(value));
  }
  svg.setAttribute("aria-label", label);
  svg.setAttribute("font-family", "Helvetica, Arial, sans-serif");
  shape("rect", svg, { width: WIDE, height: HIGH, fill: colors.paper });
  const scale = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ start, /** @type {number} */ end) =>
    (/** @type {number} */ value) => start + (end - start) * Math.min(Math.max(Math.log(value / from) / Math.log(to / from), 0), 1);
  const x = scale(across.from, across.to, EDGES.left, WIDE - EDGES.right), y = scale(up.from, up.to, HIGH - EDGES.bottom, EDGES.top);
  const small = { fill: colors.dim, "font-size": 11 };
  for (const [value, text] of across.ticks) {
    shape("path", svg, { d: `M${x(value)} ${EDGES.top}V${HIGH - EDGES.bottom}`, stroke: colors.line, fill: "none" });
    shape("text", svg, { x: x(value), y: HIGH - EDGES.bottom + 14, "text-anchor": "middle", ...small }, text);
  }
  for (const [value, text] of up.ticks) {
    shape("path", svg, { d: `M${EDGES.left} ${y(value)}H${WIDE - EDGES.right}`, stroke: colors.line, fill: "none" });
    shape("text", svg, { x: EDGES.left - 6, y: y(value) + 4, "text-anchor": "end", ...small }, text);
  }
  shape("text", svg, { x: (EDGES.left + WIDE - EDGES.right) / 2, y: HIGH - 6, "text-anchor": "middle", ...small }, across.title);
  shape("text", svg, { x: 12, y: HIGH / 2, transform: `rotate(-90 12 ${HIGH / 2})`, "text-anchor": "middle", ...small }, up.title);
  return { svg, x, y, line: (/** @type {number[]} */ xs, /** @type {number[]} */ ys) => xs.map((one, i) => `${x(one).toFixed(1)} ${y(ys[i]).toFixed(1)}`) };
}

/** Powers of a base between two numbers, at most so many. */
function powers(/** @type {number} */ base, /** @type {number} */ from, /** @type {number} */ to, most = 6) {
  const first = Math.ceil(Math.log(from) / Math.log(base) - 1e-9), last = Math.floor(Math.log(to) / Math.log(base) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / most)), found = [];
  for (let power = first; power <= last; power += step) found.push(base ** power);
  return found;
}

/** Launches of a kernel under the roofline of a card. */
function plotRoofline(/** @type {any} */ roofline, /** @type {string} */ name) {
  const { gpu, bandwidth, peak, block } = roofline, ridge = peak / bandwidth;
  const launches = roofline.launches.filter((/** @type {any[]} */ [, , , intensity, rate]) => intensity > 0 && rate > 0);
  const intensities = launches.map((/** @type {any[]} */ launch) => launch[3]), rates = launches.map((/** @type {any[]} */ launch) => launch[4]);
  const from = Math.min(0.05, ...intensities) / 2, to = Math.max(ridge * 20, ...intensities) * 2;
  const bottom = Math.min(bandwidth * from, ...rates) / 2, top = peak * 2;
  const { svg, x, y, line } = startPlot(
    `Launches of ${name} under the roofline of ${gpu}`,
    { from, to, title: "floating-point operations per byte of memory", ticks: powers(10, from, to).map(one => [one, String(Number(one.toPrecision(1)))]) },
    { from: bottom, to: top, title: "operations per second", ticks: powers(10, bottom, top).map(rate => [rate, amount(rate, "")]) },
  );
  shape("path", svg, { d: `M${line([from, ridge, to], [bandwidth * from, peak, peak]).join("L")}`, fill: "none", stroke: colors.ink, "stroke-width": 2 });
  shape("text", svg, { x: x(ridge), y: y(peak) - 6, "text-anchor": "middle", fill: colors.ink, "font-size": 12 }, gpu);
  launches.forEach((/** @type {any[]} */ [grid, bound, time, intensity, rate]) => {
    const point = shape("circle", svg, { cx: x(intensity), cy: y(rate), r: 5, fill: colors.gpu });
    shape("title", point, {}, `${grid} blocks of ${block} threads: ${time} ms, ${bound}`);
    const isRight = x(intensity) > WIDE / 2;
    shape("text", svg, {
      x: x(intensity) + (isRight ? -9 : 9), y: y(rate) + 4, "text-anchor": isRight ? "end" : "start", fill: colors.dim, "font-size": 11,
    }, `${grid} blocks: ${bound}`);
  });
  return svg;
}
