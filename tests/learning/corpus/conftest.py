"""A small folder of code for corpora: IR of several versions, C and C++; and what a corpus comes to."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "data" / "ir"


@pytest.fixture(autouse=True)
def _bundled_clang(monkeypatch):
    monkeypatch.delenv("NCC_CLANG", raising=False)


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


@pytest.fixture
def many_sources(tmp_path: Path) -> Path:
    """A recipe of 40 small C files at four levels: 160 compilations, three batches."""
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(40):
        (folder / f"f{number}.c").write_text(
            f"int f{number}(int *a, int n) {{\n  int s = {number};\n"
            f"  for (int i = 0; i < n; i++) s += a[i] {'+*-^&|'[number % 6]} {number};\n"
            f"  return s {'+*-'[number % 3]} n;\n}}\n"
        )
    recipe = tmp_path / "many.toml"
    recipe.write_text(f'[[source]]\nname = "many"\nfolder = "{folder}"\noptimization = ["-O0", "-O1", "-O2", "-O3"]\n')
    return recipe
