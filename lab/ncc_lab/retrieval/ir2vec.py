"""IR2Vec's flow-aware vectors by its own wheel, in a worker process that may crash on IR it can't read.

The wheel (2.1.1) has LLVM 17, so what later ones added to the language, which changes no meaning, is taken out first.

Reference: VenkataKeerthy et al., IR2Vec: LLVM IR Based Scalable Program Embeddings, TACO 17:4, 2020.
"""

import os
import re
import tempfile
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from ncc.arrays import Floats32
from ncc.errors import NccError
from ncc.system.workers.pool import Pool

if TYPE_CHECKING:
    from ncc_lab.retrieval.methods import Units

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


def is_installed() -> bool:
    """Return whether the ``ir2vec`` wheel is here."""
    return find_spec("ir2vec") is not None


def strip_news(ir: bytes) -> bytes:
    """Return a module's text without what LLVM 17 can't read.

    Examples:
        >>> strip_news(b"  %a = getelementptr inbounds nuw i8, ptr captures(none) %p, i64 1")
        b'  %a = getelementptr inbounds i8, ptr %p, i64 1'
    """
    for pattern, new in _NEWS:
        ir = re.sub(pattern, new, ir)
    return ir


def wheel_vectors(units: "Units") -> Floats32:
    """Return (n, 300) vectors of programs or functions as the wheel gives them; zeros where it ends on the way."""
    rows = np.zeros((len(units.table), _DIM), np.float32)
    last, vectors = b"", None
    with Pool(seconds=_SECONDS) as workers:
        for unit in range(len(rows)):
            ir, function = units.ir(unit)
            if ir is not last:
                last, vectors = ir, None
                with suppress(NccError):
                    vectors = workers.call("module", _embed, strip_news(ir))
            if vectors:
                rows[unit] = vectors[0] if function is None else vectors[1].get(function, 0)
    return rows


def _embed(ir: bytes) -> tuple[list[float], dict[str, list[float]]]:
    """Return, in a worker, the vector of a module, and those of its functions by name."""
    wheel = import_module("ir2vec")
    for stream in (1, 2):  # it prints
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    with tempfile.NamedTemporaryFile(suffix=".ll") as file:
        file.write(ir)
        file.flush()
        embedding = wheel.initEmbedding(file.name, "fa", "p")
        functions = {entry["actualName"]: list(entry["vector"]) for entry in embedding.getFunctionVectors().values()}
        return list(embedding.getProgramVector()), functions
