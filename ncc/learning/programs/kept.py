"""Compiles a file by the first attempt that works, or reads the IR that an earlier run kept."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ncc.errors import InputError, NccError
from ncc.ir.frontend.compile import compile_source, with_header
from ncc.ir.frontend.options import CompileOptions
from ncc.system.files.reading import read_input
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
        """The IR of a file.

        Raises:
            NccError: No attempt compiles; the last one's reason.
            OutputError: The IR can't be kept.
        """
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
