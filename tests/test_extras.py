"""Answers need none of the packages that extras install; what does need one names the extra."""

import json
import subprocess
import sys
from pathlib import Path

import ncc
from tests.support.refuses import refuses

IR = Path(__file__).parent / "data" / "ir"
TREE, SAXPY = str(IR / "tree.clang22.ll"), str(IR / "saxpy.clang14.ll")
EXTRA = ("torch", "gensim", "pandas", "matplotlib", "sklearn", "scipy", "pyarrow", "huggingface_hub", "torch_geometric")
LAUNCH = ("--grid", "64", "--block", "64")


ANSWERS = (
    ("embed", TREE, "-o", "x.npz"),
    ("graph", TREE, "-o", "x.html"),
    ("predict-device", SAXPY, "--transfer", "1MB", "--explain"),
    ("predict-device", SAXPY, "--plot", "x.svg"),
    ("predict-coarsening", SAXPY),
    ("predict-coarsening", SAXPY, "--head", "lstm"),
    ("predict-gpu", SAXPY, *LAUNCH, "--explain"),
    ("profile", SAXPY, *LAUNCH),
    ("classify", TREE),
    ("index", TREE, "-o", "x.index"),
    ("search", "x.index", SAXPY, "-o", "x.html"),
    ("info",),
)
NEEDS = {
    ("embed", TREE, "-o", "x.parquet"): ("pyarrow", "tables"),
    ("train", "devmap", "-o", "x"): ("sklearn", "train"),
    ("train", "gpu", "-o", "x"): ("sklearn", "train"),
    ("calibrate", "-o", "x"): ("sklearn", "train"),
    ("classify", TREE, "--head", "org/name"): ("huggingface_hub", "hub"),
    ("train", "encoder", TREE, "-o", "x"): ("scipy", "train"),
}
"""Command → the package that it needs, and the extra that installs it."""
SCRIPT = f"""
import json, sys
sys.modules.update(dict.fromkeys({EXTRA}))
from click.testing import CliRunner
from ncc.cli.main import app
for words in json.load(sys.stdin):
    result = CliRunner().invoke(app, words)
    print(json.dumps([result.exit_code, result.stderr, repr(result.exception)]))
"""


def test_without_extras_commands_answer_or_name_the_one_that_they_need(tmp_path):
    commands = [*ANSWERS, *NEEDS]
    python = [sys.executable, "-c", SCRIPT]
    given = json.dumps(commands)
    finished = subprocess.run(python, input=given, cwd=tmp_path, capture_output=True, text=True, check=True)
    for command, line in zip(commands, finished.stdout.splitlines(), strict=True):
        code, messages, error = json.loads(line)
        if command in NEEDS:
            package, extra = NEEDS[command]
            assert (command, code) == (command, 1)
            assert f"{package} is needed, and is not installed: pip install 'ncc-ir[{extra}]'" in messages
            assert error == "SystemExit(1)"
        else:
            assert (command, code, messages) == (command, 0, ""), error


def test_functions_name_the_extra_that_they_need(tmp_path, monkeypatch):
    modules, graph = [ncc.embed(TREE)], ncc.build_graph(TREE)
    for package in EXTRA:
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, package, None)
    with refuses(ncc.MissingExtraError, "pyarrow", "ncc-ir[tables]"):
        ncc.save_vectors(modules, "function", tmp_path / "x.parquet")
    with refuses(ncc.MissingExtraError, "torch_geometric", "ncc-ir[pyg]"):
        graph.to_pyg()
    with refuses(ncc.MissingExtraError, "torch_geometric", "ncc-ir[pyg]"):
        ncc.load_program_graphs(tmp_path)
    with refuses(ncc.MissingExtraError, "org/name: no such folder", "huggingface_hub", "ncc-ir[hub]"):
        ncc.load_encoder("org/name")
    with refuses(ncc.MissingExtraError, "huggingface_hub", "ncc-ir[hub]"):
        ncc.load_encoder().push_to_hub("org/name")
