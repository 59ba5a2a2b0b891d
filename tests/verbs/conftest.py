"""What commands are asked about, by the bundled clang."""

import shutil
from pathlib import Path

import pytest

from tests.contract.cases import IR, KERNELS, SOURCES


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A folder with one file of each kind, and one that is not code."""
    folder = tmp_path / "code"
    (folder / "deep").mkdir(parents=True)
    for path in (IR / "tree.clang22.ll", IR / "tree.llvm11.bc", KERNELS, SOURCES / "dot.c"):
        shutil.copy(path, folder)
    shutil.copy(IR / "sources" / "shapes.cpp", folder / "deep")
    shutil.copy(SOURCES / "no_includes.cu", folder / "deep")
    (folder / "notes.txt").write_text("not code\n")
    return folder
