"""The tower of wings and rooms: which may import which, how long each is, and its picture, drawn from the imports.

``python docs/tower.py`` draws ``docs/tower.svg``; ``python docs/tower.py --lines`` prints every room's lines of Python
beside its budget.
"""

import argparse
import ast
from collections import Counter
from functools import cache
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = Path(__file__).with_name("tower.svg")

TOWER: dict[str, tuple[tuple[str, ...], ...]] = {
    "lab": (("lab",),),
    "cli": (("cli",),),
    "verbs": (("verbs/explore",), ("verbs",)),
    "tasks": (("tasks/devices", "tasks/gpus", "tasks/coarsening", "tasks/classification", "tasks/search"),),
    "kernels": (("kernels/measure", "kernels/host"), ("kernels",)),
    "learning": (
        ("learning/encoder",),
        ("learning/heads",),
        ("learning/corpus",),
        ("learning/programs",),
        ("learning/embedding",),
        ("learning/training", "learning/data"),
    ),
    "ir": (("ir/inputs",), ("ir/graph", "ir/frontend"), ("ir/reader",)),
    "system": (("system/workers",), ("system/files",), ("system/sandbox",)),
    "errors, arrays": (("errors", "arrays"),),
}
"""Wings from top to bottom; in each, its rooms from top to bottom. A room imports from itself and from lower rooms;
rooms on one floor never import each other."""

BUDGETS = {
    "lab": 8000,
    "cli": 720,
    "verbs/explore": 500,
    "verbs": 900,
    "tasks/devices": 1935,
    "tasks/gpus": 1154,
    "tasks/coarsening": 500,
    "tasks/classification": 908,
    "tasks/search": 1245,
    "kernels/measure": 1011,
    "kernels/host": 1202,
    "kernels": 2410,
    "learning/heads": 380,
    "learning/encoder": 1847,
    "learning/corpus": 472,
    "learning/programs": 661,
    "learning/embedding": 1565,
    "learning/training": 970,
    "learning/data": 519,
    "ir/inputs": 200,
    "ir/graph": 715,
    "ir/frontend": 1729,
    "ir/reader": 1333,
    "system/workers": 417,
    "system/files": 1135,
    "system/sandbox": 399,
    "errors": 105,
    "arrays": 45,
}
"""Lines of Python that a room may have: those of the first plan, and those of features that were added to it."""
INSTALLED = 25_900
"""Lines that the package may have."""


@cache
def floors() -> dict[str, int]:
    """Return each room's floor, counted from the ground."""
    stack = [rooms for wing in TOWER.values() for rooms in wing]
    return {room: len(stack) - depth for depth, rooms in enumerate(stack) for room in rooms}


def room_of(module: str) -> str:
    """Return the room of a dotted name such as ``ncc.ir.reader.module``; "" for ``ncc`` itself."""
    if module.partition(".")[0] == "ncc_lab":
        return "lab"
    parts = module.split(".")[1:]
    return next((room for end in (2, 1) if (room := "/".join(parts[:end])) in floors()), "")


def modules() -> dict[str, Path]:
    """Return the path of each module of the package and of the lab."""
    found = {}
    for root in (ROOT, ROOT / "lab"):
        for path in sorted(root.glob("ncc*/**/*.py")):
            found[".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")] = path
    return found


def imports(path: Path) -> set[str]:
    """Return the dotted names of ours that a module imports, late imports among them."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.partition(".")[0] in ("ncc", "ncc_lab")}


def arrows() -> Counter[tuple[str, str, str]]:
    """Count imports from one room to another: (module, its room, the other room)."""
    found: Counter[tuple[str, str, str]] = Counter()
    for module, path in modules().items():
        room = room_of(module)
        for other in map(room_of, imports(path)):
            if room and other and other != room:
                found[module, room, other] += 1
    return found


def lines() -> dict[str, int]:
    """Return each room's lines of Python; those of ``ncc`` itself under ""."""
    found: Counter[str] = Counter()
    for module, path in modules().items():
        found[room_of(module)] += len(path.read_text(encoding="utf-8").splitlines())
    return dict(found)


def table() -> str:
    """Return each room's lines beside its budget, and the sums, as text."""
    counted = lines()
    rows = [(room, counted.get(room, 0), budget) for room, budget in BUDGETS.items()]
    installed = sum(count for room, count in counted.items() if room != "lab")
    rows.append(("installed", installed, INSTALLED))
    return "\n".join(f"{room:22}{count:>8,}{budget:>8,}  {'over' * (count > budget)}" for room, count, budget in rows)


_BOX, _GAP, _LEFT, _RIGHT, _TOP = 136, 12, 150, 904, 20
_STYLE = """<style>
.wing{fill:#eef1f4;stroke:#8a96a3}.room{fill:#dcebf7;stroke:#8a96a3}
text{fill:#1d2730;font:13px Helvetica,Arial,sans-serif}
.name{font-weight:bold;font-size:15px}.down{fill:none;stroke:#48525c;opacity:.55}.up{fill:none;stroke:#c0392b;stroke-width:2}
@media(prefers-color-scheme:dark){.wing{fill:#20262c;stroke:#5b6672}.room{fill:#27445c;stroke:#5b6672}text{fill:#e6ebf0}
.down{stroke:#b6c2cd}}
</style>"""


def draw() -> str:
    """Draw the tower as SVG: imports between wings as arcs on the right, inside a wing from room to room."""
    shapes, place, middle, y = [], {}, {}, _TOP
    for wing, stories in TOWER.items():
        height = 46 * len(stories) + 10
        shapes.append(f'<rect class="wing" x="10" y="{y}" width="{_RIGHT - 10}" height="{height}" rx="8"/>')
        shapes.append(f'<text class="name" x="24" y="{y + height / 2 + 5:g}">{escape(wing)}</text>')
        middle[wing] = y + height / 2
        for story, rooms in enumerate(stories):
            for column, room in enumerate(rooms):
                x, top = _LEFT + column * (_BOX + _GAP) + 80 * story, y + 10 + 46 * story
                place[room] = (x, top)
                shapes.append(f'<rect class="room" x="{x}" y="{top}" width="{_BOX}" height="30" rx="6"/>')
                label = escape(room.rpartition("/")[2])
                shapes.append(f'<text x="{x + _BOX / 2:g}" y="{top + 20}" text-anchor="middle">{label}</text>')
        y += height + 22
    wing_of = {room: wing for wing, stories in TOWER.items() for rooms in stories for room in rooms}
    between: Counter[tuple[str, str]] = Counter()
    inside: Counter[tuple[str, str]] = Counter()
    for (_, room, other), count in arrows().items():
        if wing_of[room] == wing_of[other]:
            inside[room, other] += count
        else:
            between[wing_of[room], wing_of[other]] += count
    wings = list(TOWER)
    for (wing, other), count in sorted(between.items()):
        start, end, is_up = middle[wing], middle[other], wings.index(other) < wings.index(wing)
        reach = _RIGHT + 26 * abs(wings.index(other) - wings.index(wing))
        kind, width = "up" if is_up else "down", min(5.0, 0.6 + count / 40)
        path = f"M{_RIGHT} {start:g}C{reach} {start:g} {reach} {end:g} {_RIGHT} {end:g}"
        title = f"<title>{escape(wing)} imports from {escape(other)}: {count}</title>"
        shapes.append(f'<path class="{kind}" stroke-width="{width:.1f}" d="{path}">{title}</path>')
    for (room, other), count in sorted(inside.items()):
        (x, top), (end_x, end_y) = place[room], place[other]
        kind = "down" if floors()[other] < floors()[room] else "up"
        path = f"M{x + 20} {top + 30}L{end_x + 20} {end_y}"
        title = f"<title>{escape(room)} imports from {escape(other)}: {count}</title>"
        shapes.append(f'<path class="{kind}" d="{path}">{title}</path>')
    body = "\n".join(shapes)
    label = "The wings of ncc from top to bottom, the rooms in each, and imports between them"
    size = f'viewBox="0 0 1120 {y}" width="1120" height="{y}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}">\n{_STYLE}\n{body}\n</svg>\n'
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lines", action="store_true", help="print lines beside budgets instead of drawing")
    if parser.parse_args().lines:
        print(table())
    else:
        PICTURE.write_text(draw(), encoding="utf-8")
