"""The notebooks run, each beginning with a picture, with the datasets and without; they are kept without outputs."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.datasets import needs

nbformat = pytest.importorskip("nbformat", reason="pip install '.[dev]'")

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
HONEST = ROOT / "notebooks" / "03_honest_benchmark.ipynb"
"""The notebook that needs datasets after its first picture, and says so without them."""
WITHOUT = "without the dataset"

for name in ("nbconvert", "ipykernel", "pandas", "matplotlib"):
    pytest.importorskip(name, reason=f"{name} is not installed; pip install '.[dev]'")


def _run(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[dict[str, Any]]]:
    """Outputs of a notebook's code cells, run in a folder that also takes what Jupyter keeps."""
    from nbconvert.preprocessors import ExecutePreprocessor

    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(folder / name))
    monkeypatch.delenv("MPLBACKEND", raising=False)  # the notebook's own, or no picture ends up in it
    for name in ("benchmarks", "datasets"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "notebooks").mkdir()
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(folder / "notebooks")}}
    ExecutePreprocessor(timeout=60, kernel_name="python3").preprocess(notebook, where)
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


def _num_pictures(outputs: list[dict[str, Any]]) -> int:
    return sum(bool({"image/png", "image/svg+xml"} & set(output.get("data", ()))) for output in outputs)


def _printed(cells: list[list[dict[str, Any]]]) -> str:
    return "".join(output.get("text", "") for outputs in cells for output in outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_kept_without_outputs(path: Path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert cells
    assert [cell.outputs for cell in cells] == [[]] * len(cells)
    assert {cell.execution_count for cell in cells} == {None}
    is_folded = cells[0].metadata.get("jupyter", {}).get("source_hidden", False)
    assert is_folded or cells[0].source.count("\n") < 12, "no picture on the first screen"


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
    cells = _run(path, tmp_path, monkeypatch)
    assert _num_pictures(cells[0]) == 1
    assert (WITHOUT in _printed(cells)) == (path == HONEST)


@pytest.mark.full
def test_notebook_runs_with_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    needs("devmap")
    needs("legacy_ir")
    cells = _run(HONEST, tmp_path, monkeypatch)
    assert [_num_pictures(outputs) for outputs in cells] == [1, 1, 0]
    assert WITHOUT not in _printed(cells)
    assert "5 nearest sizes" in _printed(cells)
