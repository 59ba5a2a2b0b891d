"""The notebooks run from start to end, and are kept without outputs."""

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))

pytest.importorskip("nbconvert", reason="nbconvert is not installed; pip install '.[dev]'")
pytest.importorskip("ipykernel", reason="ipykernel is not installed; pip install '.[dev]'")
pytest.importorskip("matplotlib", reason="matplotlib is not installed; pip install '.[dev]'")


def _read(path: Path):
    import nbformat

    return nbformat.read(path, as_version=4)


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_kept_without_outputs(path: Path):
    cells = [cell for cell in _read(path).cells if cell.cell_type == "code"]
    assert cells
    assert [cell.outputs for cell in cells] == [[]] * len(cells)
    assert {cell.execution_count for cell in cells} == {None}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from nbconvert.preprocessors import ExecutePreprocessor

    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "NCC_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("NCC_DATA", str(tmp_path / "no data"))
    monkeypatch.delenv("MPLBACKEND", raising=False)  # the notebook's own, or no picture ends up in it
    notebook = _read(path)
    ExecutePreprocessor(timeout=300, kernel_name="python3").preprocess(notebook, {"metadata": {"path": str(tmp_path)}})
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
