"""Pictures of an embedding as a page: one HTML file to pan, zoom, search and read statements in, offline.

The statements are data, never markup: they stand in the page as JSON with every angle bracket escaped, and are shown
as text. A content security policy keeps the page from reaching any network.
"""

import json
import os
from typing import Any

from ncc.runtime.storage import write_atomically
from ncc.study.embedding.picture import MARKS, Projection

__all__ = ["write_html"]

_ESCAPES = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>Statements by family</title>
<style>
html, body { height: 100%; margin: 0; background: #fff; color: #222; font: 14px/1.4 system-ui, sans-serif; }
body { display: flex; }
main { flex: 1; position: relative; min-width: 0; }
canvas { position: absolute; inset: 0; width: 100%; height: 100%; cursor: grab; touch-action: none; }
aside { width: 17em; padding: 1em; overflow-y: auto; border-left: 1px solid #ddd; box-sizing: border-box; }
h1 { font-size: 1em; margin: 0 0 .8em; }
input { width: 100%; box-sizing: border-box; padding: .4em; font: inherit; border: 1px solid #aaa; border-radius: 4px; }
#found { min-height: 1.4em; margin: .3em 0 .6em; color: #666; }
button { font: inherit; color: inherit; background: none; border: 0; padding: .2em 0; cursor: pointer; }
#legend button { display: flex; align-items: center; gap: .5em; width: 100%; text-align: left; }
#legend button[aria-pressed=false] { opacity: .35; text-decoration: line-through; }
#legend svg { flex: none; width: 12px; height: 12px; }
#legend .count { margin-left: auto; color: #666; }
#reset { margin-top: .8em; text-decoration: underline; }
#tip { position: absolute; display: none; max-width: min(36em, 80%); padding: .4em .6em; pointer-events: none;
  background: #fff; border: 1px solid #888; border-radius: 4px; box-shadow: 0 2px 8px #0003; }
#tip code { display: block; font: 12px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
#tip span { color: #666; }
</style>
</head>
<body>
<main><canvas id="canvas"></canvas><div id="tip"><code></code><span></span></div></main>
<aside>
<h1 id="title"></h1>
<input id="search" type="search" placeholder="Search statements" aria-label="Search statements">
<div id="found" role="status"></div>
<div id="legend"></div>
<button id="reset" type="button">Reset view</button>
</aside>
<script type="application/json" id="data">@DATA@</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);
const canvas = byId("canvas"), context = canvas.getContext("2d"), tip = byId("tip");
const { families, points, texts } = data;
const shown = families.map(() => true);
let query = "", matches = null, hovered = -1;
let scale = 1, offsetX = 0, offsetY = 0, drag = null;

function extent(axis) {
  let low = Infinity, high = -Infinity;
  for (const p of points) { low = Math.min(low, p[axis]); high = Math.max(high, p[axis]); }
  return [low, high];
}
const [lowX, highX] = extent(0), [lowY, highY] = extent(1);

function fit() {
  const { clientWidth: w, clientHeight: h } = canvas;
  scale = 0.92 * Math.min(w / Math.max(highX - lowX, 1e-6), h / Math.max(highY - lowY, 1e-6));
  offsetX = w / 2 - scale * (lowX + highX) / 2;
  offsetY = h / 2 + scale * (lowY + highY) / 2;
}
const toScreen = p => [offsetX + scale * p[0], offsetY - scale * p[1]];

function path(x, y, size, shape) {
  context.beginPath();
  if (shape === "triangle") {
    context.moveTo(x, y - 1.2 * size);
    context.lineTo(x + 1.1 * size, y + 0.8 * size);
    context.lineTo(x - 1.1 * size, y + 0.8 * size);
    context.closePath();
  } else {
    context.arc(x, y, size, 0, 2 * Math.PI);
  }
}
function mark(i, size, alpha, outline) {
  const [x, y] = toScreen(points[i]), family = families[points[i][2]];
  context.globalAlpha = alpha;
  context.fillStyle = family.color;
  path(x, y, size, family.shape);
  context.fill();
  if (outline) { context.strokeStyle = "#000"; context.lineWidth = 1; context.stroke(); }
}
function draw() {
  const ratio = window.devicePixelRatio || 1, { clientWidth: w, clientHeight: h } = canvas;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, w, h);
  for (let i = 0; i < points.length; i++) {
    if (shown[points[i][2]] && !(matches && matches[i])) mark(i, 2.5, matches ? 0.12 : 0.8, false);
  }
  for (let i = 0; matches && i < points.length; i++) {
    if (shown[points[i][2]] && matches[i]) mark(i, 4, 1, true);
  }
  if (hovered >= 0) mark(hovered, 5, 1, true);
}
let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

function nearest(x, y) {
  let best = -1, least = 10 * 10;
  for (let i = 0; i < points.length; i++) {
    if (!shown[points[i][2]]) continue;
    const [px, py] = toScreen(points[i]), d = (px - x) ** 2 + (py - y) ** 2;
    if (d < least) { least = d; best = i; }
  }
  return best;
}
function hover(x, y) {
  hovered = nearest(x, y);
  tip.style.display = hovered < 0 ? "none" : "block";
  if (hovered >= 0) {
    tip.children[0].textContent = texts[hovered];
    tip.children[1].textContent = families[points[hovered][2]].name;
    const { clientWidth: w, clientHeight: h } = canvas;
    tip.style.left = Math.max(4, Math.min(x + 14, w - tip.offsetWidth - 4)) + "px";
    tip.style.top = (y + 14 + tip.offsetHeight > h ? y - tip.offsetHeight - 10 : y + 14) + "px";
  }
  redraw();
}
canvas.addEventListener("pointerdown", e => {
  drag = [e.offsetX, e.offsetY];
  canvas.setPointerCapture(e.pointerId);
  canvas.style.cursor = "grabbing";
});
canvas.addEventListener("pointermove", e => {
  if (drag) {
    offsetX += e.offsetX - drag[0];
    offsetY += e.offsetY - drag[1];
    drag = [e.offsetX, e.offsetY];
  }
  hover(e.offsetX, e.offsetY);
});
for (const end of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(end, () => { drag = null; canvas.style.cursor = "grab"; });
}
canvas.addEventListener("pointerleave", () => { hovered = -1; tip.style.display = "none"; redraw(); });
canvas.addEventListener("wheel", e => {
  e.preventDefault();
  const factor = Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015));
  offsetX = e.offsetX - (e.offsetX - offsetX) * factor;
  offsetY = e.offsetY - (e.offsetY - offsetY) * factor;
  scale *= factor;
  hover(e.offsetX, e.offsetY);
}, { passive: false });

function search() {
  query = byId("search").value.trim().toLowerCase();
  matches = query ? texts.map(text => text.toLowerCase().includes(query)) : null;
  const count = matches ? matches.filter(Boolean).length : 0;
  byId("found").textContent = matches ? count + (count === 1 ? " statement" : " statements") : "";
  redraw();
}
byId("search").addEventListener("input", search);
byId("reset").addEventListener("click", () => { fit(); redraw(); });

families.forEach((family, at) => {
  const button = document.createElement("button"), space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg"), shape = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", "0 0 12 12");
  shape.setAttribute("d", family.shape === "triangle" ? "M6 1 11 11 1 11Z" : "M1 6a5 5 0 1 0 10 0a5 5 0 1 0-10 0");
  shape.setAttribute("fill", family.color);
  svg.append(shape);
  const name = document.createElement("span"), count = document.createElement("span");
  name.textContent = family.name;
  count.textContent = family.count.toLocaleString("en");
  count.className = "count";
  button.type = "button";
  button.setAttribute("aria-pressed", "true");
  button.append(svg, name, count);
  button.addEventListener("click", () => {
    shown[at] = !shown[at];
    button.setAttribute("aria-pressed", String(shown[at]));
    hovered = -1;
    redraw();
  });
  byId("legend").append(button);
});
byId("title").textContent = data.title;
new ResizeObserver(redraw).observe(canvas);
fit();
draw();
</script>
</body>
</html>
"""


def write_html(projection: Projection, path: str | os.PathLike[str]) -> None:
    """Writes a projection as one page that needs nothing else: pan, zoom, hover, search, families on and off.

    Raises:
        OutputError: The file can't be written.
    """
    data = json.dumps(_data(projection), ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)
    page = _PAGE.replace("@DATA@", data)
    write_atomically(path, page.encode("utf-8", "backslashreplace"))


def _data(projection: Projection) -> dict[str, Any]:
    drawn = projection.drawn_families
    families = [
        {
            "name": family,
            "color": MARKS[family].color,
            "shape": MARKS[family].shape,
            "count": projection.families.count(family),
        }
        for family in drawn
    ]
    points = [
        [round(x, 4), round(y, 4), drawn.index(family)]
        for (x, y), family in zip(projection.xy.tolist(), projection.families, strict=True)
    ]
    return {"title": projection.title, "families": families, "points": points, "texts": projection.texts}
