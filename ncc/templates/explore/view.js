// What is looked at: its address, and the parts of the page that show it.

const MOST_LISTED = 60, MOST_LINKED = 5, KEPT = 50;
/** @type {Record<string, string>} */
const TITLES = { name: "name", place: "file", statements: "statements", nearest: "nearest", copies: "copies", speedup: "GPU speedup" };
/** @type {Record<string, string>} */
const ABOUT = {
  nearest: "Similarity of the nearest other function: 1 for the same code, low for what is unusual here",
  copies: "Group of copies that it is in: find them by copies:1",
  speedup: "CPU time / GPU time when 256 MiB are moved, and the low end of its 80% interval",
};

let table = /** @type {any} */ (null), columns = /** @type {any} */ (null);
let asked = { function: -1, row: -1, search: "", sort: "", down: false };
let current = /** @type {any} */ (null); // the function that is shown: its number, data and shape
let listed = new Int32Array(0); // rows of the table that are searched for, in order
/** @type {string[]} */
let lowered = [];
/** @type {Map<string, Int32Array>} */
const orders = new Map();
/** @type {Map<number, Promise<any>>} */
const kept = new Map();
let functions = /** @type {any} */ (null), source = /** @type {any} */ (null), code = /** @type {any} */ (null);
let graph = /** @type {any} */ (null), map = /** @type {any} */ (null);
/** @type {number[]} */
let hits = [];
let numShared = 0, first = 0;

// ---- the address

function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1)), number = (/** @type {string} */ name) => {
    const value = parts.get(name);
    return value !== null && /^\d{1,9}$/.test(value) ? Number(value) : name === "function" ? first : -1;
  };
  const sort = parts.get("sort") ?? "";
  return {
    function: number("function"), row: number("row"), search: (parts.get("search") ?? "").slice(0, 1000),
    sort: Object.hasOwn(TITLES, sort) ? sort : "", down: parts.has("down"),
  };
}
/** Look at something else: the address changes, and the page with it. */
function go(/** @type {Partial<typeof asked>} */ changes) {
  const next = { ...asked, ...changes }, parts = new URLSearchParams();
  if (location.protocol === "about:") { // a cell of a notebook, which has no address
    apply(next);
    return;
  }
  if (next.function >= 0) parts.set("function", String(next.function));
  if (next.row >= 0) parts.set("row", String(next.row));
  if (next.search) parts.set("search", next.search);
  if (next.sort) parts.set("sort", next.sort);
  if (next.down) parts.set("down", "1");
  const address = `#${parts}`;
  if (address === (location.hash || "#")) return;
  if (next.function !== asked.function) location.hash = address;
  else location.replace(address); // a step back leads to the function before
  follow();
}
const follow = () => apply(readAddress());
function apply(/** @type {typeof asked} */ next) {
  const before = asked;
  asked = next;
  if (asked.search !== before.search || asked.sort !== before.sort || asked.down !== before.down) list();
  if (asked.function !== before.function) show(asked.function);
  else if (asked.row !== before.row) select(asked.row);
}

// ---- the table

const placeOf = (/** @type {number} */ number) => columns.file ? `${table.files[columns.file[number]]}:${columns.line[number]}` : "";
/** Length of the folder that all files are in, which the table leaves out. */
function sharedFolder(/** @type {string[]} */ files) {
  let length = files[0]?.length ?? 0;
  for (const file of files) while (!file.startsWith(files[0].slice(0, length))) length--;
  return (files[0]?.lastIndexOf("/", length - 1) ?? -1) + 1;
}
/** Rows in the order of a column. */
function orderBy(/** @type {string} */ sort) {
  const known = orders.get(sort);
  if (known) return known;
  const order = Int32Array.from(columns.name.keys());
  const keys = sort === "name" ? lowered : sort === "place" ? columns.file : sort === "speedup"
    ? columns.speedup.map((/** @type {number[] | null} */ one) => one ? one[0] : -1) : columns[sort];
  if (sort === "copies") order.sort((a, b) => (keys[a] || Infinity) - (keys[b] || Infinity) || a - b);
  else if (sort) order.sort((a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : a - b));
  orders.set(sort, order);
  return order;
}
function list() {
  const wanted = asked.search.trim().toLowerCase(), group = Number(/^copies:\s*(\d+)$/.exec(wanted)?.[1] ?? 0);
  const order = orderBy(asked.sort in columns || asked.sort === "place" ? asked.sort : ""), found = new Int32Array(order.length);
  const isFile = (table.files ?? []).map((/** @type {string} */ file) => file.toLowerCase().includes(wanted));
  let count = 0;
  for (let i = 0; i < order.length; i++) {
    const number = order[asked.down ? order.length - 1 - i : i];
    const isWanted = group ? columns.copies?.[number] === group : lowered[number].includes(wanted) || (columns.file && isFile[columns.file[number]]);
    if (isWanted) found[count++] = number;
  }
  listed = found.subarray(0, count);
  if (byId("search").value.trim() !== asked.search.trim()) byId("search").value = asked.search;
  byId("listed").textContent = `${count.toLocaleString("en")} of ${order.length.toLocaleString("en")} functions`;
  functions.active = listed.indexOf(asked.function);
  functions.resize(count);
  functions.box.scrollTop = 0;
  functions.show(functions.active);
  for (const heading of functions.box.querySelectorAll("[role=columnheader]")) {
    heading.setAttribute("aria-sort", heading.dataset.sort !== asked.sort ? "none" : asked.down ? "descending" : "ascending");
  }
  if (map) {
    map.listed = listed;
    map.redraw();
  }
}
const shownColumns = () => Object.keys(TITLES).filter(name => name in columns || (name === "place" && columns.file));
function cell(/** @type {string} */ name, /** @type {number} */ number) {
  if (name === "place") return placeOf(number);
  const value = columns[name][number];
  if (name === "speedup") return value ? `${value[1].toPrecision(2)}× (${value[0].toPrecision(2)})` : "";
  return name === "copies" && !value ? "" : String(value ?? "");
}
function startTable() {
  functions.box.querySelector(".heading")?.remove();
  const heading = make("div", "", functions.box, "heading");
  functions.inner.before(heading);
  heading.setAttribute("role", "row");
  heading.setAttribute("aria-rowindex", "1");
  for (const name of shownColumns()) {
    const column = make("div", "", heading, name in { name: 1, place: 1, speedup: 1 } ? name : `number ${name}`);
    column.setAttribute("role", "columnheader");
    column.dataset.sort = name;
    column.title = ABOUT[name] ?? "";
    makeButton(TITLES[name], column, () => go({ sort: name, down: asked.sort === name && !asked.down }));
  }
  functions.box.setAttribute("aria-colcount", String(shownColumns().length));
}
function drawFunction(/** @type {number} */ index, /** @type {HTMLElement} */ row) {
  for (const name of shownColumns()) {
    const made = make("span", cell(name, listed[index]).slice(name === "place" ? numShared : 0), row, name in { name: 1, place: 1, speedup: 1 } ? name : `number ${name}`);
    made.setAttribute("role", "gridcell");
  }
}
function saveTable() {
  const names = shownColumns(), quote = (/** @type {string} */ text) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  const lines = [...listed].map(number => names.map(name => quote(cell(name, number))).join(","));
  save("functions.csv", new Blob([[names.join(","), ...lines, ""].join("\r\n")], { type: "text/csv" }));
}

// ---- the function

async function show(/** @type {number} */ number) {
  current = null;
  hits = [];
  for (const one of [source, code]) one.resize(0);
  byId("one").hidden = !(number >= 0 && number < columns.name.length);
  if (byId("one").hidden) return;
  const name = columns.name[number], index = listed.indexOf(number);
  byId("name").textContent = name;
  byId("facts").textContent = "Loading";
  for (const id of ["notes", "details", "kernel", "near"]) byId(id).replaceChildren();
  if (functions.active !== index) functions.show(index);
  map?.select(number, []);
  let data;
  try {
    if (!kept.has(number)) kept.set(number, load(`functions/${number}`));
    if (kept.size > KEPT) kept.delete(/** @type {number} */ (kept.keys().next().value));
    data = await kept.get(number);
  } catch (error) {
    kept.delete(number);
    data = { notes: [String(/** @type {Error} */ (error).message)] };
  }
  if (asked.function !== number) return; // another one was asked for meanwhile
  current = { number, name, data, shape: data.graph ? unfold(data.graph) : null, first: columns.line?.[number] ?? 0 };
  showFacts();
  showRows();
  showKernel();
  showNearest();
  select(asked.row);
}
function showFacts() {
  const { number, data } = current, copies = columns.copies?.[number] ?? 0;
  const facts = [placeOf(number), `${columns.statements[number].toLocaleString("en")} statements`].filter(Boolean);
  byId("facts").textContent = facts.join(", ");
  if (copies) {
    byId("facts").append(" ");
    makeButton(`list its ${columns.copies.filter((/** @type {number} */ one) => one === copies).length} copies`, byId("facts"), () => go({ search: `copies:${copies}` }));
  }
  for (const note of data.notes ?? []) make("li", note, byId("notes"));
  showCommand("command-graph", data.commands?.graph);
}
function showCommand(/** @type {string} */ id, /** @type {string | undefined} */ command) {
  byId(id).hidden = !command;
  byId(id).textContent = command ?? "";
}
/** The source, the statements and the graph, shaded by what drove the prediction. */
function showRows() {
  const { shape, data, name, first } = current, effects = data.kernel?.effect ?? [];
  const strongest = Math.max(0, ...effects.map(Math.abs));
  /** @type {Map<number, number>} */
  const ofLine = new Map();
  graph.shades = effects.map((/** @type {number} */ effect) => effectColor(effect, strongest));
  effects.forEach((/** @type {number} */ effect, /** @type {number} */ row) => {
    const line = shape.line[row];
    if (line && Math.abs(effect) > Math.abs(ofLine.get(line) ?? 0)) ofLine.set(line, effect);
  });
  current.shadeOfLine = (/** @type {number} */ line) => effectColor(ofLine.get(line) ?? 0, strongest);
  byId("source").hidden = !data.code?.length;
  byId("code").hidden = byId("picture").hidden = !shape;
  source.active = code.active = -1;
  source.resize(data.code?.length ?? 0);
  code.resize(shape ? shape.firstLink : 0);
  source.box.scrollTop = code.box.scrollTop = 0;
  graph.hits = new Set();
  graph.show(shape, name);
  byId("found").textContent = "";
  current.lines = shape ? new Map() : null;
  shape?.line.forEach((/** @type {number} */ line, /** @type {number} */ row) => {
    if (line >= first && line < first + (data.code?.length ?? 0)) current.lines.set(line, [...(current.lines.get(line) ?? []), row]);
  });
  if (byId("statements").value) findStatements();
}
/** Choose a row of the graph: it is chosen in the statements and in the source too. */
function select(/** @type {number} */ row) {
  if (!current?.shape) return;
  const { shape, first } = current;
  row = row < shape.labels.length ? row : -1;
  current.row = row;
  const line = row < 0 ? 0 : shape.line[row];
  graph.select(row);
  code.show(row < shape.firstLink ? row : -1);
  source.show(line && current.lines.has(line) ? line - first : -1);
  showDetails(row);
}
function showDetails(/** @type {number} */ row) {
  const details = byId("details"), { shape } = current;
  details.replaceChildren();
  if (row < 0) return;
  make("h3", "Chosen", details);
  make("code", shape.labels[row], details);
  const effect = current.data.kernel?.effect[row];
  if (shape.text[row] >= 0) make("p", "as a statement: ", details).append(make("code", shape.texts[shape.text[row]], details));
  if (effect) {
    const towards = current.data.kernel.devices[effect > 0 ? 1 : 0];
    make("p", `${Math.exp(Math.abs(effect)).toFixed(2)}× towards ${towards}: the answer with its line, against without`, details);
  }
  if (shape.line[row]) {
    const button = makeButton(`line ${shape.line[row]} of the source`, details, () => {
      byId("statements").value = `line:${shape.line[row]}`;
      findStatements();
    });
    button.id = "line";
  }
  const link = shape.links[row - shape.firstLink] ?? -1;
  if (link >= 0) makeButton(`go to ${columns.name[link]}`, details, () => go({ function: link, row: -1 }));
  const touching = shape.touching[row];
  listEdges("From", touching.filter((/** @type {Edge} */ edge) => edge.target === row), "source");
  listEdges("To", touching.filter((/** @type {Edge} */ edge) => edge.source === row), "target");
  listEdges("Its edges", touching.filter((/** @type {Edge} */ edge) => edge.by === row && edge.source !== row && edge.target !== row), undefined);
}
function listEdges(/** @type {string} */ title, /** @type {Edge[]} */ edges, /** @type {"source" | "target" | undefined} */ end) {
  if (!edges.length) return;
  const details = byId("details"), label = (/** @type {number} */ row) => graph.label(row);
  make("h3", title, details);
  for (const edge of edges.slice(0, MOST_LISTED)) {
    const ends = end ? [edge[end]] : [edge.source, edge.target];
    const button = makeButton(ends.map(label).join(" → "), details, () => go({ row: ends[0] }));
    button.className = `edge ${KINDS[edge.kind]}`;
    button.title = `${KINDS[edge.kind]}: ${label(edge.by)}`;
  }
  if (edges.length > MOST_LISTED) make("p", `and ${edges.length - MOST_LISTED} more`, details);
}
function drawRow(/** @type {number} */ index, /** @type {HTMLElement} */ row) {
  make("span", String(index), row, "line-number");
  make("span", current.shape.labels[index], row);
  row.style.background = index === code.active ? "" : graph.hits.has(index) ? colors.hit : graph.shades[index] ?? "";
}
function drawLine(/** @type {number} */ index, /** @type {HTMLElement} */ row) {
  const line = current.first + index;
  make("span", String(line), row, "line-number");
  make("span", current.data.code[index], row);
  row.style.background = index === source.active ? "" : current.lines?.get(line)?.some((/** @type {number} */ one) => graph.hits.has(one))
    ? colors.hit : current.shadeOfLine(line);
}
/** Find statements of the function by part of their text or by their line. */
function findStatements() {
  const wanted = byId("statements").value.trim().toLowerCase(), line = Number(/^line:\s*(\d+)$/.exec(wanted)?.[1] ?? 0);
  hits = [];
  if (!current?.shape) return;
  current.shape.labels.forEach((/** @type {string} */ label, /** @type {number} */ row) => {
    if (line ? current.shape.line[row] === line : wanted && label.toLowerCase().includes(wanted)) hits.push(row);
  });
  byId("found").textContent = wanted ? `${hits.length} found` : "";
  graph.hits = new Set(hits);
  for (const part of [graph, code, source]) part.redraw();
}
function step(/** @type {number} */ way) {
  if (!hits.length) return;
  if (graph.scale < 0.4) graph.zoom(0.8 / graph.scale);
  const row = way > 0 ? hits.find(one => one > current.row) : hits.findLast(one => one < current.row);
  go({ row: row ?? hits.at(way > 0 ? 0 : -1) });
}

function showKernel() {
  const { kernel, roofline, commands } = current.data, place = byId("kernel");
  place.hidden = !kernel;
  if (!kernel) return;
  make("h3", "Kernel: CPU or GPU?", place);
  make("pre", kernel.answer, place);
  make("p", `Statements and lines are shaded by how far they move the answer, blue towards ${kernel.devices[1]}, orange towards ${kernel.devices[0]}.`, place, "about");
  const speedup = new DOMParser().parseFromString(kernel.curve, "image/svg+xml").documentElement;
  addPlot(document.importNode(speedup, true), "speedup.svg", commands.kernel);
  if (!roofline) return;
  make("h3", `Under the roofline of ${roofline.gpu}`, place);
  make("pre", roofline.answer, place);
  addPlot(plotRoofline(roofline, current.name), "roofline.svg", commands.roofline);
}
function addPlot(/** @type {Element} */ svg, /** @type {string} */ name, /** @type {string} */ command) {
  const place = byId("kernel"), bar = make("div", "", place, "bar");
  bar.before(svg);
  makeButton("SVG", bar, () => save(name, new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" })));
  make("code", command, bar);
}
function showNearest() {
  const { number, data } = current, place = byId("near"), nearest = data.nearest ?? [];
  place.hidden = !nearest.length;
  map?.select(number, nearest.slice(0, MOST_LINKED).map((/** @type {number[]} */ [other]) => other));
  if (!nearest.length) return;
  make("h3", "Nearest functions", place);
  const rows = make("table", "", make("div", "", place, "wide")), heading = make("tr", "", rows);
  const hasRates = nearest.some((/** @type {any[]} */ one) => one[2] !== null);
  for (const title of ["similarity", ...(hasRates ? ["copies"] : []), "function", "file"]) make("th", title, heading).scope = "col";
  for (const [other, similarity, rate] of nearest) {
    const row = make("tr", "", rows);
    make("td", similarity.toFixed(3), row);
    if (hasRates) make("td", rate === null ? "" : `${Math.round(100 * rate)}%`, row);
    makeButton(columns.name[other], make("td", "", row), () => go({ function: other, row: -1 }));
    make("td", placeOf(other), row);
  }
  if (hasRates) make("p", "Copies: the share of pairs this similar or more that are copies.", place, "about");
  make("code", data.commands.nearest, place);
}

// ---- the start

function listen() {
  byId("search").addEventListener("input", () => go({ search: byId("search").value }));
  byId("search").addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    if (e.key === "Enter" && listed.length) go({ function: listed[0], row: -1 });
    else if (e.key === "ArrowDown") { e.preventDefault(); functions.box.focus(); functions.show(Math.max(functions.active, 0)); }
    else if (e.key === "Escape") { byId("search").value = ""; go({ search: "" }); }
  });
  document.addEventListener("keydown", e => {
    if (e.key !== "/" || e.target instanceof HTMLInputElement || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    byId("search").focus();
    byId("search").select();
  });
  byId("statements").addEventListener("input", findStatements);
  byId("statements").addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => { if (e.key === "Enter") step(e.shiftKey ? -1 : 1); });
  /** @type {Record<string, () => void>} */
  const acts = {
    next: () => step(1), previous: () => step(-1), csv: saveTable, "map-png": () => map.save("map.png"), "graph-png": () => graph.save("graph.png"),
    fit: () => graph.fit(true), closer: () => graph.zoom(1.3), farther: () => graph.zoom(1 / 1.3),
  };
  for (const [id, act] of Object.entries(acts)) byId(id).addEventListener("click", act);
  KINDS.forEach((name, kind) => {
    const button = makeButton(name, byId("legend"), () => {
      graph.shown[kind] = !graph.shown[kind];
      button.setAttribute("aria-pressed", String(graph.shown[kind]));
      graph.redraw();
    });
    button.className = `edge ${name}`;
    button.setAttribute("aria-pressed", "true");
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColors();
    if (asked.function >= 0) show(asked.function);
    map?.redraw();
  });
  addEventListener("hashchange", follow);
}
/** Add columns that take a while: those that compare very many functions with each other. */
async function addColumns(/** @type {string} */ name) {
  Object.assign(columns, await load(name));
  const { scrollTop } = functions.box;
  startTable();
  list();
  functions.box.scrollTop = scrollTop;
  if (!current) return;
  byId("notes").replaceChildren();
  showFacts();
}
async function start() {
  readColors();
  table = await load("table");
  columns = table.columns;
  numShared = sharedFolder(table.files ?? []);
  first = table.shown ?? 0;
  lowered = columns.name.map((/** @type {string} */ name) => name.toLowerCase());
  if (table.about) byId("functions").title = table.about;
  functions = new List(byId("functions"), drawFunction, index => go({ function: listed[index], row: -1 }));
  source = new List(byId("source"), drawLine, index => {
    const rows = current.lines?.get(current.first + index) ?? [];
    byId("statements").value = `line:${current.first + index}`;
    findStatements();
    if (rows.length) go({ row: rows[0] });
  });
  code = new List(byId("code"), drawRow, row => go({ row }));
  graph = new Graph(byId("graph"), row => go({ row }), number => go({ function: number, row: -1 }));
  if (columns.x) {
    byId("map-frame").hidden = false;
    map = new VectorMap(byId("map"), columns, number => go({ function: number, row: -1 }));
  }
  startTable();
  showCommand("command-copies", table.commands?.copies);
  listen();
  asked = readAddress();
  list();
  show(asked.function);
  for (const name of table.later ?? []) addColumns(name).catch(error => { byId("functions").title = error.message; });
}
start().catch(error => {
  byId("listed").textContent = `This page can't be read: ${error.message}; it needs a browser of 2023 or newer`;
});
