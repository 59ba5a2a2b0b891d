"""Counts of a corpus beside those of two counters, however the work is divided."""

from pathlib import Path

import pytest

import ncc
from tests.oracles.counts import as_counters, slow_counts

IR = Path(__file__).parents[2] / "data" / "ir"
FILES = sorted(IR.glob("tree*.ll")) + sorted(IR.glob("saxpy*.ll"))


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of several versions, counted for three widths."""
    path = tmp_path_factory.mktemp("recipe") / "recipe.toml"
    source = f"name = 'ir'\nfolder = '{IR}'\npatterns = ['tree*.ll', 'saxpy*.ll']\n"
    path.write_text(f"widths = [1, 2, 3]\n[[source]]\n{source}")
    return path


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_corpus_has_every_statement_and_pair(recipe: Path, tmp_path: Path, jobs: int) -> None:
    report = ncc.build_corpus(recipe, tmp_path / "corpus", jobs=jobs)
    assert report.failures == {}
    for width in (1, 2, 3):
        counts = ncc.load_counts(tmp_path / "corpus", context_width=width)
        assert as_counters(counts) == slow_counts(FILES, width), f"width {width}"
        assert counts.num_files == len(FILES)
