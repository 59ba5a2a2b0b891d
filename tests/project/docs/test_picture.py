"""The README's picture and badges are what ncc draws now."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def picture() -> ModuleType:
    spec = importlib.util.spec_from_file_location("picture", ROOT / "docs/picture.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _words_and_numbers(text: str) -> tuple[list[str], list[float]]:
    number = r"-?\d+(?:\.\d+)?"
    return re.split(number, text), [float(found) for found in re.findall(number, text)]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_picture_is_what_ncc_draws(picture: ModuleType, theme: str) -> None:
    kept = (ROOT / f"docs/picture-{theme}.svg").read_text(encoding="utf-8")
    words, numbers = _words_and_numbers(picture.draw(theme))
    kept_words, kept_numbers = _words_and_numbers(kept)
    assert words == kept_words
    assert numbers == pytest.approx(kept_numbers, abs=0.11)  # they are rounded, and processors differ
    assert len(kept) <= 150_000


def test_badges_tell_what_the_project_says_of_itself(picture: ModuleType) -> None:
    for label, value in picture.badges().items():
        assert (ROOT / f"docs/badges/{label}.svg").read_text(encoding="utf-8") == picture.draw_badge(label, value)
