// A kernel's plots as SVG: its speedup over sizes, and its launches under a card's roofline.

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

/** The speedup of a kernel over the bytes that it moves, with its 80% interval. */
function plotSpeedup(/** @type {any} */ kernel, /** @type {string} */ name) {
  const { sizes, speedup, low, high, devices, seen, crossovers } = kernel;
  const from = Math.min(0.5, ...low), to = Math.max(2, ...high), smallest = sizes[0], largest = sizes.at(-1);
  const { svg, x, y, line } = startPlot(
    `Speedup of ${name} over data moved: ${Number(speedup[0].toPrecision(2))} at ${amount(smallest, "B")}, ${Number(speedup.at(-1).toPrecision(2))} at ${amount(largest, "B")}`,
    { from: smallest, to: largest, title: "bytes moved between host and device (grey: beyond what training saw)",
      ticks: powers(2, smallest, largest, 8).map(size => [size, amount(size, "B")]) },
    { from, to, title: `${devices[0]} time / ${devices[1]} time`, ticks: powers(10, from, to).map(ratio => [ratio, `${ratio < 1 ? Number(ratio.toPrecision(1)) : ratio}×`]) },
  );
  for (const [start, end] of [[smallest, seen[0]], [seen[1], largest]]) {
    if (start < end) shape("rect", svg, { x: x(start), y: EDGES.top, width: x(end) - x(start), height: HIGH - EDGES.top - EDGES.bottom, fill: colors.dim, "fill-opacity": 0.12 });
  }
  shape("path", svg, { d: `M${line(sizes, high).join("L")}L${line(sizes, low).reverse().join("L")}Z`, fill: colors.gpu, "fill-opacity": 0.18 });
  shape("path", svg, { d: `M${line(sizes, speedup).join("L")}`, fill: "none", stroke: colors.gpu, "stroke-width": 2 });
  shape("path", svg, { d: `M${EDGES.left} ${y(1)}H${WIDE - EDGES.right}`, stroke: colors.ink });
  crossovers.forEach((/** @type {number} */ size, /** @type {number} */ i) => {
    shape("path", svg, { d: `M${x(size)} ${EDGES.top}V${HIGH - EDGES.bottom}`, stroke: colors.cpu, "stroke-dasharray": "4 3" });
    shape("text", svg, { x: x(size) + 4, y: y(1) - 6 - 12 * (i % 3), fill: colors.cpu, "font-size": 11 }, amount(size, "B"));
  });
  shape("text", svg, { x: WIDE - EDGES.right - 4, y: EDGES.top + 12, "text-anchor": "end", fill: colors.gpu, "font-size": 12 }, `${devices[1]} faster`);
  shape("text", svg, { x: WIDE - EDGES.right - 4, y: HIGH - EDGES.bottom - 6, "text-anchor": "end", fill: colors.cpu, "font-size": 12 }, `${devices[0]} faster`);
  return svg;
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
