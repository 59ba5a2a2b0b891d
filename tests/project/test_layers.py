"""Imports point down the tower of wings and rooms, tests import what rooms.py lists, and light commands stay light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ncc
from docs.tower import BUDGETS, INSTALLED, arrows, floors, lines, modules, room_of, table
from tests.rooms import VERBS

PACKAGE = Path(ncc.__file__).parent
UPWARD: set[tuple[str, str]] = set()
"""Imports that point upwards, module and room; to be emptied."""

OVER_BUDGET = {"verbs"}
"""Rooms that are longer than their budget; to be emptied."""

HEAVY = (
    *("torch", "gensim", "pandas", "matplotlib", "sklearn", "scipy", "pyarrow", "networkx", "huggingface_hub"),
    "torch_geometric",
)


def test_imports_point_down_the_tower():
    upward = {(module, other) for module, room, other in arrows() if floors()[other] >= floors()[room]}
    assert upward == UPWARD


def test_every_module_is_in_a_room_and_says_what_it_does():
    for module, path in modules().items():
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path
        is_wing = path.name == "__init__.py" and path.parent.parent == PACKAGE
        assert is_wing or path.parent == PACKAGE or room_of(module), path


def test_rooms_keep_to_their_budgets():
    print(table())
    assert floors().keys() == BUDGETS.keys()
    over = {room for room, budget in BUDGETS.items() if lines()[room] > budget}
    assert over == OVER_BUDGET
    assert sum(count for room, count in lines().items() if room != "lab") <= INSTALLED


def _modules_after(code: str) -> set[str]:
    """What a program has imported, modules and the packages that they are in."""
    script = f"import sys\n{code}\nsys.stderr.write(chr(10).join(sys.modules))"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return {*finished.stderr.splitlines()}


IR = Path(__file__).parents[1] / "data" / "ir"
TREE, SAXPY = str(IR / "tree.clang22.ll"), str(IR / "saxpy.clang14.ll")
MAIN = """
from ncc.cli.main import main
for words in {}:
    sys.argv[1:] = words.split()
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
"""


@pytest.mark.parametrize(
    ("commands", "unloaded"),
    [
        (["--help", "embed --help", "corpus --help", "train embedding --help"], {*HEAVY, "numpy", "llvmlite"}),
        ([f"embed --json {TREE}", f"embed --level statement {TREE}", f"graph --json {TREE}"], {*HEAVY}),
        # kernels' loops are found with networkx, which takes none of the others along
        (
            [
                f"predict-device --json {SAXPY}",
                f"predict-device --transfer 1e6 --explain {SAXPY}",
                f"predict-device {SAXPY} --plot a.svg",
            ],
            {*HEAVY} - {"networkx"},
        ),
    ],
)
def test_commands_import_nothing_heavy(commands, unloaded, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not _modules_after(MAIN.format(commands)) & unloaded


def test_ncc_and_its_verbs_import_nothing_heavy():
    modules = ", ".join(sorted({place.partition(":")[0] for place in VERBS.values()} | {"ncc_lab.verbs"}))
    assert not _modules_after(f"import ncc, {modules}") & {*HEAVY, "numpy", "llvmlite", "click", "rich"}


def test_vectors_of_a_file_take_few_modules():
    modules = _modules_after(MAIN.format([f"embed {TREE}"]))
    assert len([name for name in modules if name.partition(".")[0] == "ncc"]) <= 60


def test_public_names_are_loaded_when_used():
    code = "import ncc\nassert set(ncc.__all__) == set(dir(ncc))\nfor name in ncc.__all__: getattr(ncc, name)"
    assert _modules_after(code) & {"numpy", "torch"} == {"numpy"}


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="unheard_of"):
        ncc.unheard_of  # noqa: B018


ROOT = Path(__file__).parents[2]
PUBLIC = {"ncc", "ncc.errors", "ncc_lab"}


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
