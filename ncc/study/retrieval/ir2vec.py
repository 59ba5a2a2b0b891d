"""IR2Vec's flow-aware vectors by its own wheel, in a process of its own: it ends the process that it can't read IR in.

The wheel (2.1.1) has LLVM 17, so what later ones added to the language, which changes no meaning, is taken out first.

Reference: VenkataKeerthy et al., IR2Vec: LLVM IR Based Scalable Program Embeddings, TACO 17:4, 2020.
"""

import json
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Final

import numpy as np

from ncc.arrays import Floats32
from ncc.study.retrieval.methods import Units

_DIM = 300
_SECONDS = 20.0
"""For a module: following definitions takes the wheel minutes and gigabytes in some."""
_NEWS: tuple[tuple[bytes, bytes], ...] = (
    (
        rb"\b(?:captures|initializes|range|nofpclass|memory)\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\) ?",
        b"",
    ),
    (rb"\bdead_on_(?:return|unwind)\b(?:\(\d+\))? ?", b""),
    (rb"\b(trunc|getelementptr(?: inbounds)?)(?: (?:nuw|nsw|nusw))+", rb"\1"),
    (rb"\b(or|zext|uitofp|icmp) (?:disjoint|nneg|samesign)", rb"\1"),
    (rb"(?m)^(attributes #\d+ = )\{.*\}$", rb"\1{ nounwind }"),
    (rb"(?m)^(declare .*@llvm\.lifetime\.(?:start|end)\.p0\()ptr", rb"\1i64, ptr"),
    (rb"(@llvm\.lifetime\.(?:start|end)\.p0\()ptr", rb"\1i64 -1, ptr"),
)
_WORKER = """
import json, sys, ir2vec
for line in sys.stdin:
    embedding = ir2vec.initEmbedding(line.strip(), "fa", "p")
    functions = {one["actualName"]: one["vector"] for one in embedding.getFunctionVectors().values()}
    answer = json.dumps([list(embedding.getProgramVector()), functions])
    print("vectors", answer, flush=True)
"""


def is_installed() -> bool:
    """Whether the ``ir2vec`` wheel is here."""
    return find_spec("ir2vec") is not None


def without_news(ir: bytes) -> bytes:
    """A module's text without what LLVM 17 can't read.

    Examples:
        >>> without_news(b"  %a = getelementptr inbounds nuw i8, ptr captures(none) %p, i64 1")
        b'  %a = getelementptr inbounds i8, ptr %p, i64 1'
    """
    for pattern, new in _NEWS:
        ir = re.sub(pattern, new, ir)
    return ir


class IR2VecWheel:
    """Vectors of programs and of functions as the wheel gives them; zeros where it ends on the way.

    Attributes:
        num_failed: Units that have none, of those that were asked last.
    """

    name = "IR2Vec flow-aware (its wheel)"
    kind: Final = "published"

    def __init__(self) -> None:
        self.num_failed = 0

    def vectors(self, units: Units, /) -> Floats32:
        """Returns (n, 300) float32."""
        found = np.zeros((len(units.table), _DIM), np.float32)
        last, vectors = b"", None
        with tempfile.TemporaryDirectory() as folder, _Wheel(Path(folder)) as wheel:
            for unit in range(len(found)):
                ir, function = units.ir(unit)
                if ir is not last:
                    last, vectors = ir, wheel.ask(without_news(ir))
                if vectors:
                    found[unit] = vectors[0] if function is None else vectors[1].get(function, 0)
        self.num_failed = int((~found.any(axis=1)).sum())
        return found


class _Wheel:
    """A process that has the wheel, started again whenever it ended."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "module.ll"
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "_Wheel":
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def ask(self, ir: bytes) -> tuple[list[float], dict[str, list[float]]] | None:
        """The vector of a module and those of its functions, by name; None where the wheel ended on it."""
        self._path.write_bytes(ir)
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        process = self._process
        assert process.stdin
        assert process.stdout
        limit = Timer(_SECONDS, process.kill)
        limit.start()
        try:
            process.stdin.write(f"{self._path}\n")
            process.stdin.flush()
            answer = next((line for line in process.stdout if line.startswith("vectors ")), None)
        except BrokenPipeError:
            answer = None
        finally:
            limit.cancel()
        if answer is None:
            self._end()
            return None
        program, functions = json.loads(answer.removeprefix("vectors "))
        return program, functions

    def _end(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None
