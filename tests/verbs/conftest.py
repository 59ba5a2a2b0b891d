"""Running the command line in this process, with the code that it answers about."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.rooms import app

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Finished:
    """What a command left: exit code, data and messages."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _bundled_clang(monkeypatch):
    monkeypatch.delenv("NCC_CLANG", raising=False)


@pytest.fixture
def ncc() -> Callable[..., Finished]:
    """Runs a command; an exception that would be a traceback is raised."""

    def run(*arguments: object, stdin: bytes | None = None) -> Finished:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Finished(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def ir() -> Path:
    return TESTS / "data" / "ir"


@pytest.fixture
def sources() -> Path:
    return TESTS / "ir" / "frontend" / "sources"


@pytest.fixture
def kernels() -> Path:
    return TESTS / "samples" / "two_kernels.cl"


@pytest.fixture
def code(tmp_path: Path, ir: Path, sources: Path, kernels: Path) -> Path:
    """A folder with one file of each kind, and one that is not code."""
    folder = tmp_path / "code"
    (folder / "deep").mkdir(parents=True)
    for path in (ir / "tree.clang22.ll", ir / "tree.llvm11.bc", kernels, sources / "dot.c"):
        shutil.copy(path, folder)
    shutil.copy(ir / "sources" / "shapes.cpp", folder / "deep")
    shutil.copy(sources / "no_includes.cu", folder / "deep")
    (folder / "notes.txt").write_text("not code\n")
    return folder


@pytest.fixture(scope="session")
def programs(tmp_path_factory) -> Path:
    """Two classes of 15 programs, as IR: compilers would take most of the time."""
    folder = tmp_path_factory.mktemp("classes")
    for name, words in (("bits", "xor and or shl"), ("sums", "add sub mul sdiv")):
        (folder / name).mkdir()
        for number in range(15):
            chosen = [words.split()[(number >> shift) % 4] for shift in range(3)]
            lines = [f"  %x{i + 1} = {word} i32 %x{i}, {number + i}" for i, word in enumerate(chosen)]
            text = "\n".join(["define i32 @f(i32 %x0) {", *lines, "  ret i32 %x3", "}", ""])
            (folder / name / f"{number}.ll").write_text(text)
    return folder


BAD = {
    "missing.ll": (None, "missing.ll: no such file or folder"),
    "empty.ll": (b"", "empty.ll: the file is empty"),
    "empty.c": (b"\n\n", "empty.c: the file is empty"),
    "rubbish.ll": (bytes(range(256)) * 4, "rubbish.ll: not LLVM IR"),
    "rubbish.bc": (bytes(range(255, 0, -1)) * 4, "rubbish.bc"),
    "truncated.bc": ((TESTS / "data" / "ir" / "tree.llvm11.bc").read_bytes()[:1000], "truncated.bc: LLVM can't read"),
    "syntax.ll": (b"define i32 @f(i32 %x) {\n  %y = add i32 %x\n  ret i32 %y\n}\n", "syntax.ll:3:"),
    "semantics.ll": (b"define i32 @f() {\n  ret i32 %nowhere\n}\n", "semantics.ll"),
    "broken.cl": (b"__kernel void f(__global int *a) {\n  a[0] = b;\n}\n", "broken.cl:2:10: error"),
    "broken.cpp": (b"int f( {\n", "broken.cpp:1:"),
    "declared.ll": (b"declare void @f()\n", "declared.ll: no function is emitted"),
    "variable.c": (b"int x;\n", "variable.c: no function is emitted"),
    "line.ll": (b"x" * (1 << 20), "line.ll:1:1"),
    "line.c": (b"int " + b"x" * (1 << 20), "line.c"),
    "latin.ll": ("; café\nvoid é\n".encode("latin-1"), "latin.ll:2:"),
    "latin.c": ("int é(void) { return x; }\n".encode("latin-1"), "latin.c:1:"),
    "notes.md": (b"# notes\n", "notes.md: extension '.md' is not one that ncc reads"),
    "noextension": (b"int f(void) { return 1; }\n", "noextension: extension '' is not one"),
}
"""File → its content and what the message must hold."""


@pytest.fixture(params=list(BAD))
def bad(request, tmp_path: Path) -> tuple[Path, str]:
    """A file that can't be read, and part of the message that it should give."""
    content, message = BAD[request.param]
    path = tmp_path / request.param
    if content is not None:
        path.write_bytes(content)
    return path, message
