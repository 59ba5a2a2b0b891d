"""Imports go one way, and light commands stay light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ncc

PACKAGE = Path(ncc.__file__).parent
RANK = {
    "arrays": 0,
    "errors": 0,
    "native": 1,
    "runtime": 1,
    "frontend": 2,
    "data": 2,
    "ir": 3,
    "graph": 4,
    "inputs": 5,
    "embedding": 6,
    "training": 6,
    "kernels": 7,
    "encoder": 7,
    "corpus": 7,
    "measure": 8,
    "devices": 8,
    "gpus": 8,
    "coarsening": 8,
    "classification": 8,
    "search": 8,
    "study": 9,
    "api": 10,
    "cli": 11,
}
"""A package imports from itself and from packages of a lower rank."""

HEAVY = ("torch", "gensim", "pandas", "matplotlib", "sklearn", "scipy", "pyarrow", "networkx")


def _package(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imported_packages(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            names |= {
                f"{node.module}.{alias.name}" if node.module == "ncc" else str(node.module) for alias in node.names
            }
    return {name.split(".")[1] for name in names if name.startswith("ncc.")}


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_from_lower_packages_only(path):
    if path in (PACKAGE / "__init__.py", PACKAGE / "__main__.py"):
        return
    package = _package(path)
    higher = {
        other
        for other in _imported_packages(ast.parse(path.read_text(encoding="utf-8")))
        if other != package and RANK[other] >= RANK[package]
    }
    assert not higher, f"{package} may not import {sorted(higher)}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_says_what_it_does(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)


def test_every_package_has_a_rank():
    packages = {_package(path) for path in MODULES} - {"__init__", "__main__"}
    assert packages <= set(RANK)


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
    source = Path(__file__).parent / "data" / "ir" / "tree.clang22.ll"
    assert not _modules_after(_MAIN, *arguments, str(source)) & set(HEAVY)


# kernels' loops are found with networkx, which takes none of the others along
@pytest.mark.parametrize("arguments", [["--json"], ["--transfer", "1e6", "--explain"]])
def test_predictions_import_nothing_heavy(arguments):
    source = Path(__file__).parent / "data" / "ir" / "saxpy.clang14.ll"
    assert not _modules_after(_MAIN, "predict-device", str(source), *arguments) & set(HEAVY) - {"networkx"}


def test_a_picture_of_predictions_takes_matplotlib_alone(tmp_path):
    source = Path(__file__).parent / "data" / "ir" / "saxpy.clang14.ll"
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


def test_all_names_of_all_rooms_exist():
    import importlib

    for path in MODULES:
        name = ".".join(("ncc", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        if path.parent.name == "native" or name.endswith(("llvm_helper", "__main__")):
            continue
        module = importlib.import_module(name)
        assert path.name in ("__init__.py", "errors.py") or not hasattr(module, "__all__"), name
        for public in getattr(module, "__all__", ()):
            assert hasattr(module, public), f"{name}.{public}"
