"""Turns one file of a labelled set into a program: compiles it, keeps its IR, reads and describes it."""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ncc.ir.frontend.clang import find_compiler
from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.project import own_flags
from ncc.ir.frontend.snippets import compile_program
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.objects import is_ir_path
from ncc.ir.reader.reader import read_module
from ncc.learning.programs.table import ProgramTable, describe_program
from ncc.system.files.reading import InputFile, read_input
from ncc.system.files.writing import read_compressed, write_compressed

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
        """Compiles next to nothing, so that a compiler that does not work is not taken for programs that don't.

        Raises:
            CompileError: The compiler is missing or does not work.
        """
        compile_source(b"int main(void) { return 0; }\n", replace(self.options, language="c"))

    def read(self, path: InputFile) -> tuple[ProgramTable, str]:
        """A program, and the way that it compiled.

        Raises:
            NccError: It does not compile, or its IR can't be read.
        """
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
    """A hash of a file's text and extension, and of the flags that a compilation database has for it.

    Raises:
        InputError: The file can't be read, or leads out of its folder.
    """
    flags = own_flags(path, options)
    key = hashlib.sha256(Path(path).suffix.encode() + read_input(path) + (repr(flags).encode() if flags else b""))
    return key.hexdigest()
