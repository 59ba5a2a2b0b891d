"""Cache of IR by content of the source file, which is compiled by the first attempt that works."""

import gzip
import hashlib
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, Self

from ncc.errors import InputError, NccError
from ncc.ir.frontend.clang import find_compiler
from ncc.ir.frontend.compile import compile_source, with_header
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.project import own_flags
from ncc.ir.frontend.snippets import compile_program
from ncc.system.files.reading import InputFile, read_input
from ncc.system.files.writing import write_atomically

Attempts = tuple[tuple[CompileOptions, str | None], ...]
"""Options to try in order, each with a header to prepend or None; empty for a file of IR."""

_MAX_BYTES = 1 << 31
_COMPILED = 1
"""Incremented whenever programs compile differently, which invalidates the cache."""


class Compilable(Protocol):
    """A file, the folder that it may read ("" for only its own), and how to compile it."""

    @property
    def path(self) -> str: ...  # noqa: D102
    @property
    def folder(self) -> str: ...  # noqa: D102
    @property
    def attempts(self) -> Attempts: ...  # noqa: D102


@dataclass(frozen=True)
class CachingCompiler:
    """Compiles files, with optional folders to cache precompiled headers and IR in."""

    headers: Path
    cache: Path | None = None

    @classmethod
    def below(cls, folder: Path) -> Self:
        """Keep both in a folder."""
        return cls(folder / "headers", folder / "ir")

    def ir_of(self, file: Compilable) -> bytes:
        """Return the IR of a file, compiled by its first attempt that works."""
        if not file.attempts:
            return read_input(file.path, file.folder or None)
        try:
            source = read_input(file.path, file.folder or None) if self.cache else b""
        except InputError:
            return self._attempt(file)  # the compiler will report the error
        return self.cached((file.path, file.attempts, hashlib.sha256(source).digest()), lambda: self._attempt(file))

    def program_ir(self, path: InputFile, options: CompileOptions) -> tuple[bytes, str]:
        """Return the IR of a program, and how it compiled, which is cached in a comment before it."""

        def compiled() -> bytes:
            folders = [path.folder] if path.folder else []
            program = compile_program(path, options, self.headers, readable=folders)
            return f"; {program.compiled_as}\n".encode() + program.ir

        way, _, ir = self.cached((compiled_by(options), file_key(path, options)), compiled).partition(b"\n")
        return ir, way.decode().removeprefix("; ")

    def cached(self, key: object, compiled: Callable[[], bytes]) -> bytes:
        """Return the cached IR of a key, or compile it."""
        if not self.cache:
            return compiled()
        name = hashlib.sha256(repr(key).encode()).hexdigest()[:32]
        file = self.cache / name[:2] / f"{name}.ll.gz"
        if not (ir := read_compressed(file)):
            ir = compiled()
            write_atomically(file, gzip.compress(ir, compresslevel=1, mtime=0))  # equal data give equal files
        return ir

    def _attempt(self, file: Compilable) -> bytes:
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


def read_compressed(path: Path, max_bytes: int = _MAX_BYTES) -> bytes | None:
    """Read a file by gzip; None if it is missing, damaged or empty, or expands to too many bytes."""
    with suppress(OSError, zlib.error):
        if path.stat().st_size <= max_bytes:
            stream = zlib.decompressobj(wbits=zlib.MAX_WBITS + 16)
            data = stream.decompress(path.read_bytes(), max_bytes + 1)
            return data if data and stream.eof and not stream.unused_data and len(data) <= max_bytes else None
    return None


def compiled_by(options: CompileOptions) -> Any:
    """Everything that IR depends on beside the source; a user's compiler is identified by its path."""
    compiler = find_compiler(options.clang)
    name = compiler.argv if compiler.headers is None else f"ziglang {version('ziglang')}"
    return _COMPILED, name, replace(options, clang=None)


def check_compiler(options: CompileOptions) -> None:
    """Compile an almost empty file, so that a broken compiler is not reported as broken programs."""
    compile_source(b"int main(void) { return 0; }\n", replace(options, language="c"))


def file_key(path: InputFile, options: CompileOptions) -> str:
    """A hash of a file's text and extension, and of the flags that a compilation database has for it."""
    try:
        flags: tuple[str, ...] | str = own_flags(path, options)
    except InputError as error:
        flags = str(error)  # raised when it is compiled
    key = hashlib.sha256(Path(path).suffix.encode() + read_input(path) + (repr(flags).encode() if flags else b""))
    return key.hexdigest()
