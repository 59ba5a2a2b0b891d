"""A small code base in which some functions are copies, and its index."""

from pathlib import Path

import pytest

import ncc

SUM = """
int {name}(const int *a, int n) {{
  int total = 0;
  for (int i = 0; i < n; i++) {{
    if (a[i] > {number}) total += a[i] * a[i];
    else total -= a[i] / 3;
  }}
  return total;
}}
"""
FIND = """
const char *{name}(const char *text, char sign) {{
  while (*text && *text != sign) text++;
  if (!*text) return 0;
  for (int i = 0; i < {number}; i++) if (text[i] == 0) return text;
  return text + {number};
}}
"""


def write_code(folder: Path) -> Path:
    """Three files: two sums and a search, a sum again, and one without functions."""
    folder.mkdir(exist_ok=True)
    (folder / "a.c").write_text(SUM.format(name="first_sum", number=3) + FIND.format(name="find", number=7))
    (folder / "b.c").write_text("\n\n" + SUM.format(name="second_sum", number=5))
    (folder / "types.c").write_text("struct point { int x, y; };\n")
    return folder


@pytest.fixture
def code(tmp_path) -> Path:
    return write_code(tmp_path / "code")


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> ncc.Index:
    folder = tmp_path_factory.mktemp("made")
    return ncc.index(write_code(folder / "code"), folder / "index")
