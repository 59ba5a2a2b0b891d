"""The command that writes the IR of Python's kernels, where what compiles them is installed."""

import importlib
import itertools
import sys

import pytest

from datasets.jit import __main__ as command
from tests.rooms import load_recipe, read_module


@pytest.mark.parametrize("name", ["triton", "numba", "numba_cuda"])
def test_kernels_of_python_are_read(name):
    pytest.importorskip(name.replace("_", "."), reason=f"needs {name} (pip install {name.replace('_', '-')})")
    kernels = importlib.import_module(f"datasets.jit.{name}_kernels")
    for file, text in itertools.islice(kernels.compiled(), 2):
        module = read_module(text.encode(), name=file)
        assert module.read_via == "direct"
        assert module.num_statements > 10


def test_what_is_not_installed_is_named(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "triton", None)
    monkeypatch.setattr(sys, "argv", ["jit", "triton", "-o", str(tmp_path / "out")])
    with pytest.raises(SystemExit, match="1"):
        command.main()
    assert "pip install triton" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_recipe_reads_what_the_command_writes(monkeypatch):
    monkeypatch.setenv("GENERATED", "made")
    sources = load_recipe("datasets/corpora/jit.toml").sources
    assert [source.folder for source in sources] == ["$GENERATED/triton", "$GENERATED/numba"]
