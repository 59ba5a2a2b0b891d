"""What every golden is asked in: the repository's folder, an empty cache, and the compiler that ncc brings."""

from pathlib import Path

import pytest

from tests.golden.cases import ROOT
from tests.support.goldens import Goldens

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Empty when the goldens begin."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _setting(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("NCC_CACHE", str(cache))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NCC_CUDA_PATH", raising=False)


@pytest.fixture
def goldens(request: pytest.FixtureRequest) -> Goldens:
    """Kept answers of verbs, formats and trainers."""
    return Goldens(HERE / "data", request.config.getoption("--update-goldens"))


@pytest.fixture
def pages(request: pytest.FixtureRequest) -> Goldens:
    """Kept pages of plain output."""
    return Goldens(HERE / "words", request.config.getoption("--update-goldens"))
