"""The notebooks run from start to end, with the datasets and without, and are kept without outputs."""

from pathlib import Path
from typing import Any

import pytest

from tests.rooms import FileState, verify

nbformat = pytest.importorskip("nbformat", reason="pip install '.[dev]'")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
WANTING_DATA = {"02_device_mapping": 2, "03_honest_benchmark": 5}
"""Notebooks that say what they lack without a dataset, and their pictures with it."""
DATASETS = {
    "02_device_mapping": ("devmap", "legacy_ir"),
    "03_honest_benchmark": ("devmap", "legacy_ir", "coarsening"),
}
WITHOUT = "without the dataset"

for name in ("nbconvert", "ipykernel", "pandas", "matplotlib"):
    pytest.importorskip(name, reason=f"{name} is not installed; pip install '.[dev]'")


def _run(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """All outputs of a notebook, run in a folder that also takes what Jupyter keeps; measured tables lie beside it."""
    from nbconvert.preprocessors import ExecutePreprocessor

    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(folder / name))
    monkeypatch.setenv("PYTHONPATH", str(NOTEBOOKS[0].parents[1]))  # where a notebook finds what is beside its folder
    monkeypatch.delenv("MPLBACKEND", raising=False)  # the notebook's own, or no picture ends up in it
    (folder / "benchmarks").symlink_to(NOTEBOOKS[0].parents[1] / "benchmarks")
    (folder / "notebooks").mkdir()
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(folder / "notebooks")}}
    ExecutePreprocessor(timeout=300, kernel_name="python3").preprocess(notebook, where)
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def _num_pictures(outputs: list[dict[str, Any]]) -> int:
    return sum("image/png" in output.get("data", {}) for output in outputs)


def _printed(outputs: list[dict[str, Any]]) -> str:
    return "".join(output.get("text", "") for output in outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_kept_without_outputs(path: Path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert cells
    assert [cell.outputs for cell in cells] == [[]] * len(cells)
    assert {cell.execution_count for cell in cells} == {None}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path.stem == "01_embed_and_explore" else pytest.mark.full, id=path.stem)
        for path in NOTEBOOKS
    ],
)
def test_notebook_runs_without_data(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NCC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NCC_DATA", str(tmp_path / "no data"))
    outputs = _run(path, tmp_path, monkeypatch)
    assert _num_pictures(outputs)
    assert (WITHOUT in _printed(outputs)) == (path.stem in WANTING_DATA)


@pytest.mark.full
@pytest.mark.parametrize("stem", DATASETS)
def test_notebook_runs_with_data(stem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    states = [item for name in DATASETS[stem] for item in verify(name).items()]
    missing = [str(path) for path, state in states if state is FileState.MISSING]
    if missing:
        pytest.skip(f"no local copy of {', '.join(missing)} (set NCC_DATA)")
    (path,) = (path for path in NOTEBOOKS if path.stem == stem)
    outputs = _run(path, tmp_path, monkeypatch)
    assert _num_pictures(outputs) == WANTING_DATA[stem]
    assert WITHOUT not in _printed(outputs)
    assert "ncc times" in _printed(outputs)
