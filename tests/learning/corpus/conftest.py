"""A small folder of code for corpora: IR of several versions, C and C++; and what a corpus comes to."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "data" / "ir"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    (folder / "deep" / "er").mkdir(parents=True)
    for name in ("legacy.ll", "tree.clang14.ll", "shapes.llvm20.bc", "saxpy.clang22.ll"):
        shutil.copy(DATA / name, folder)
    shutil.copy(DATA / "sources" / "tree.c", folder / "deep" / "er")
    (folder / "deep" / "add.c").write_text("int add(int a, int b) { return a + b; }\n")
    (folder / "notes.txt").write_text("not code\n")
    return folder


@pytest.fixture
def corpus_files() -> Callable[[Path], dict[str, bytes]]:
    """The counts of a corpus, file by file: what must not depend on how it was built."""

    def read(folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.glob("width-*/counts.*"))}

    return read
