"""What tests import of ncc: the public interface, or a name that stands in a rooms.py."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PUBLIC = {"ncc", "ncc.errors", "ncc_lab", "ncc_lab.cli"}


def test_only_public_names_and_those_of_rooms_are_imported():
    found = {}
    for path in sorted([*(ROOT / "tests").rglob("*.py"), *(ROOT / "lab" / "tests").rglob("*.py")]):
        if path.name == "rooms.py" or {"samples", "data"} & set(path.parts) or path.stem.endswith("ranks"):
            continue
        nodes = list(ast.walk(ast.parse(path.read_bytes())))
        imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module and "tests" not in node.module.split("."):
                private = {alias.name for alias in node.names if alias.name.startswith("_")}
                imported |= {node.module} | {f"{node.module}.{name}" for name in private}
        inner = {name for name in imported if name.partition(".")[0] in ("ncc", "ncc_lab")} - PUBLIC
        if inner:
            found[str(path.relative_to(ROOT))] = inner
    assert found == {}
