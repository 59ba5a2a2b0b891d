"""A page of each verb's plain output: the only place where sentences are pinned."""

import re

import pytest

from tests.golden.cases import PAGES
from tests.support.goldens import Goldens
from tests.support.verbs import run_here


@pytest.mark.parametrize("name", PAGES)
def test_a_page_reads_as_it_did(name: str, pages: Goldens) -> None:
    finished = run_here(*PAGES[name])
    parts = [f"exit code {finished.code}", finished.out, *(["messages:", finished.err] if finished.err else [])]
    text = "\n".join(re.sub(r"[ \t]+$", "", part, flags=re.MULTILINE).rstrip() for part in parts)
    pages.check(name, f"{text}\n")
