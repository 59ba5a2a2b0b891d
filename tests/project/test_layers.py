"""Imports point down the tower of wings and rooms, and light commands stay light."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import ncc

PACKAGE = Path(ncc.__file__).parent
TOWER: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("cli",),),
    (("api",),),
    (("tasks/devices", "tasks/gpus", "tasks/coarsening", "tasks/classification", "tasks/search"),),
    (("kernels/measure",), ("kernels",)),
    (
        ("learning/heads",),
        ("learning/encoder",),
        ("learning/corpus",),
        ("learning/programs",),
        ("learning/embedding",),
        ("learning/training", "learning/data"),
    ),
    (("ir/inputs",), ("ir/graph", "ir/frontend"), ("ir/reader",)),
    (("system/workers",), ("system/files",), ("system/sandbox",)),
    (("errors", "arrays"),),
)
"""Wings from top to bottom, and each wing's rooms from top to bottom. A room imports from itself and from lower rooms;
rooms on one floor never import each other."""

UPWARD = {
    ("ncc.api.training", "lab"),
    ("ncc.learning.encoder.train", "tasks/classification"),
    ("ncc.learning.programs.kept", "learning/corpus"),
    ("ncc.tasks.classification.train_head", "lab"),
    ("ncc.tasks.classification.tuning", "lab"),
    ("ncc.tasks.coarsening.train_head", "lab"),
    ("ncc.tasks.devices.times", "lab"),
}
"""Imports that point upwards, module and room; to be emptied."""

HEAVY = ("torch", "gensim", "pandas", "matplotlib", "sklearn", "scipy", "pyarrow", "networkx")


@cache
def _floors() -> dict[str, int]:
    floors = [("lab",), *(rooms for wing in TOWER for rooms in wing)]
    return {room: len(floors) - floor for floor, rooms in enumerate(floors) for room in rooms}


def _room(module: str) -> str:
    """The room of a dotted name such as ncc.ir.reader.reader; "" for ``ncc`` itself, "lab" for the lab."""
    if module.startswith("ncc_lab"):
        return "lab"
    parts = module.split(".")[1:]
    return next((room for end in (2, 1) if (room := "/".join(parts[:end])) in _floors()), "")


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.startswith(("ncc.", "ncc_lab"))}


def _name(path: Path) -> str:
    return ".".join(("ncc", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


MODULES = sorted(PACKAGE.rglob("*.py"))


def test_imports_point_down_the_tower():
    floors = _floors()
    upward = {
        (_name(path), other)
        for path in MODULES
        if (room := _room(_name(path)))
        for other in map(_room, _imports(path))
        if other and other != room and floors[other] >= floors[room]
    }
    assert upward == UPWARD


def test_every_module_is_in_a_room_and_says_what_it_does():
    for path in MODULES:
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path
        is_wing = path.name == "__init__.py" and path.parent.parent == PACKAGE
        assert is_wing or path.parent == PACKAGE or _room(_name(path)), path


def _modules_after(code: str, *arguments: str) -> set[str]:
    script = f"import sys\n{code}\nsys.stderr.write(chr(10).join(sys.modules))"
    command = [sys.executable, "-c", script, *arguments]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return {name.split(".")[0] for name in finished.stderr.splitlines()}


_MAIN = "from ncc.cli import main\ntry:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code"


def test_import_ncc_imports_nothing_heavy():
    modules = _modules_after("import ncc")
    assert not modules & {*HEAVY, "numpy", "llvmlite", "typer", "rich"}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["embed", "--help"], ["corpus", "--help"], ["train", "embedding", "--help"]]
)
def test_help_imports_nothing_heavy(arguments):
    assert not _modules_after(_MAIN, *arguments) & {*HEAVY, "numpy", "llvmlite"}


@pytest.mark.parametrize("arguments", [["embed", "--json"], ["embed", "--level", "statement"], ["graph", "--json"]])
def test_answers_about_code_import_nothing_heavy(arguments):
    source = Path(__file__).parents[1] / "data" / "ir" / "tree.clang22.ll"
    assert not _modules_after(_MAIN, *arguments, str(source)) & set(HEAVY)


# kernels' loops are found with networkx, which takes none of the others along
@pytest.mark.parametrize("arguments", [["--json"], ["--transfer", "1e6", "--explain"]])
def test_predictions_import_nothing_heavy(arguments):
    source = Path(__file__).parents[1] / "data" / "ir" / "saxpy.clang14.ll"
    assert not _modules_after(_MAIN, "predict-device", str(source), *arguments) & set(HEAVY) - {"networkx"}


def test_a_picture_of_predictions_takes_matplotlib_alone(tmp_path):
    source = Path(__file__).parents[1] / "data" / "ir" / "saxpy.clang14.ll"
    modules = _modules_after(_MAIN, "predict-device", str(source), "--plot", str(tmp_path / "a.svg"))
    assert modules & set(HEAVY) - {"networkx"} == {"matplotlib"}


def test_public_names_are_loaded_when_used():
    code = "import ncc\nassert set(ncc.__all__) == set(dir(ncc))\nfor name in ncc.__all__: getattr(ncc, name)"
    modules = _modules_after(code)
    assert "numpy" in modules
    assert "torch" not in modules


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="module 'ncc' has no attribute 'unheard_of'"):
        ncc.unheard_of  # noqa: B018
