"""Compiles a file by the first attempt that works, or reads the IR that an earlier run kept."""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from ncc.errors import InputError, NccError
from ncc.ir.frontend.clang import find_compiler
from ncc.ir.frontend.compile import compile_source, with_header
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.project import own_flags
from ncc.ir.frontend.snippets import compile_program
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.objects import is_ir_path
from ncc.ir.reader.reader import read_module
from ncc.learning.programs.table import ProgramTable, describe_program
from ncc.system.files.reading import InputFile, read_input
from ncc.system.files.writing import read_compressed, write_compressed

Attempts = tuple[tuple[CompileOptions, str | None], ...]
"""Options to try in order, each with a header to put before the file or None; none for a file of IR."""


class Compilable(Protocol):
    """A file, the folder that it may read ("" for that of the file alone), and how to compile it."""

    @property
    def path(self) -> str: ...  # noqa: D102
    @property
    def folder(self) -> str: ...  # noqa: D102
    @property
    def attempts(self) -> Attempts: ...  # noqa: D102


@dataclass(frozen=True)
class Compiler:
    """Compiles files.

    Attributes:
        headers: Folder for precompiled headers.
        kept: Folder of IR to look in first and to add to, or None.
    """

    headers: Path
    kept: Path | None = None

    def ir_of(self, file: Compilable) -> bytes:
        """The IR of a file."""
        if not file.attempts:
            return read_input(file.path, file.folder or None)
        kept = self._place(file)
        if kept and (found := read_compressed(kept)):
            return found
        ir = self._compile(file)
        if kept:
            write_compressed(kept, ir)
        return ir

    def _compile(self, file: Compilable) -> bytes:
        folder = [file.folder] if file.folder else []
        for attempt, (options, header) in enumerate(file.attempts):
            try:
                if not header:
                    return compile_source(file.path, options, readable=folder).ir
                prepared = with_header(Path(header), options, self.headers, readable=folder)
                return compile_source(file.path, prepared, readable=[*folder, Path(header).parent]).ir
            except NccError:
                if attempt == len(file.attempts) - 1:
                    raise
        raise AssertionError("source has at least one attempt")

    def _place(self, file: Compilable) -> Path | None:
        if not self.kept:
            return None
        digest = hashlib.sha256(repr((file.path, file.attempts)).encode())
        try:
            digest.update(read_input(file.path, file.folder or None))
        except InputError:  # the compiler will say what is wrong
            return None
        name = digest.hexdigest()[:32]
        return self.kept / name[:2] / f"{name}.ll.gz"


_COMPILED = 1
_READ = 4
"""Raised whenever programs compile, or are read, differently, so that what is kept is made again."""


@dataclass(frozen=True)
class ProgramReader:
    """Reads programs, and keeps the IR that compilers made of them.

    Attributes:
        options: Of the compiler.
        abstraction: Of the statements.
        cache: Folder of precompiled headers and of IR.
    """

    options: CompileOptions
    abstraction: Abstraction
    cache: Path

    @property
    def identity(self) -> Any:
        """What a program's description depends on beside its text."""
        return _READ, self._compiled_by, self.abstraction

    @cached_property
    def _compiled_by(self) -> Any:
        """What IR depends on beside the source; the compiler by its version, or its path where it is the user's."""
        compiler = find_compiler(self.options.clang)
        name = compiler.argv if compiler.headers is None else f"ziglang {version('ziglang')}"
        return _COMPILED, name, replace(self.options, clang=None)

    def check_compiler(self) -> None:
        """Compile next to nothing, so that a compiler that does not work is not taken for programs that don't."""
        compile_source(b"int main(void) { return 0; }\n", replace(self.options, language="c"))

    def read(self, path: InputFile) -> tuple[ProgramTable, str]:
        """A program, and the way that it compiled."""
        if is_ir_path(path):
            module = read_module(path, abstraction=self.abstraction)
            return describe_program(module), "IR"
        ir, way = self.ir_of(path)
        return describe_program(read_module(ir, name=path.path, abstraction=self.abstraction)), way

    def ir_of(self, path: InputFile) -> tuple[bytes, str]:
        """IR and way; kept with the way as its first line, a comment."""
        name = hashlib.sha256(repr((self._compiled_by, file_key(path, self.options))).encode()).hexdigest()[:32]
        kept = self.cache / "ir" / name[:2] / f"{name}.ll.gz"
        if found := read_compressed(kept):
            way, _, ir = found.partition(b"\n")
            return ir, way.decode().removeprefix("; ")
        compiled = compile_program(
            path, self.options, self.cache / "headers", readable=[path.folder] if path.folder else []
        )
        write_compressed(kept, f"; {compiled.way}\n".encode() + compiled.ir)
        return compiled.ir, compiled.way


def file_key(path: InputFile, options: CompileOptions) -> str:
    """A hash of a file's text and extension, and of the flags that a compilation database has for it."""
    flags = own_flags(path, options)
    key = hashlib.sha256(Path(path).suffix.encode() + read_input(path) + (repr(flags).encode() if flags else b""))
    return key.hexdigest()
