"""Compiles a file of a corpus: by the first attempt that works, or from the IR that an earlier build kept."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ncc.errors import InputError, NccError
from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.precompiled import with_header
from ncc.learning.corpus.files import CorpusFile
from ncc.system.files.models import read_compressed, write_compressed
from ncc.system.files.reading import read_file


@dataclass(frozen=True)
class Compiler:
    """Compiles files of a corpus.

    Attributes:
        headers: Folder for precompiled headers.
        kept: Folder of IR to look in first and to add to, or None.
    """

    headers: Path
    kept: Path | None = None

    def ir_of(self, file: CorpusFile) -> bytes:
        """The IR of a file.

        Raises:
            NccError: No attempt compiles; the last one's reason.
            OutputError: The IR can't be kept.
        """
        if not file.attempts:
            return read_file(file.path, file.folder or None)
        kept = self._place(file)
        if kept and (found := read_compressed(kept)):
            return found
        ir = self._compile(file)
        if kept:
            write_compressed(kept, ir)
        return ir

    def _compile(self, file: CorpusFile) -> bytes:
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
        raise AssertionError("a file of a corpus has at least one attempt")

    def _place(self, file: CorpusFile) -> Path | None:
        if not self.kept:
            return None
        digest = hashlib.sha256(repr((file.path, file.attempts)).encode())
        try:
            digest.update(read_file(file.path, file.folder or None))
        except InputError:  # the compiler will say what is wrong
            return None
        name = digest.hexdigest()[:32]
        return self.kept / name[:2] / f"{name}.ll.gz"
