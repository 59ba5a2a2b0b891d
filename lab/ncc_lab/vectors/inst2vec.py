"""The vocabulary and vectors that spcl/ncc publishes, read from their pickles without running what a pickle names."""

import io
import math
import pickle
import pickletools
import re
from pathlib import Path
from typing import Any

import numpy as np

from ncc.arrays import Floats32
from ncc.errors import AssetError
from ncc.ir.reader.abstraction import Abstraction
from ncc.learning.embedding.embedding import Embedding, l2_normalize
from ncc.learning.embedding.vocabulary import UNKNOWN, Vocabulary

_MAX_NUMBER = 1e15
"""Squares of vectors with larger numbers overflow float32."""


def load_inst2vec(dictionary_path: str | Path, matrix_path: str | Path) -> Embedding:
    """Load the published inst2vec embedding, with statements spelled as today's LLVM prints them.

    Reference: Ben-Nun et al. 2018, section 4.
    """
    dictionary_path, matrix_path = Path(dictionary_path), Path(matrix_path)
    dictionary, matrix = _read_dictionary(dictionary_path), _read_matrix(matrix_path)
    last_row = max(dictionary.values())
    if last_row >= len(matrix):
        raise AssetError(f"{dictionary_path}: has row {last_row}, but {matrix_path} has only {len(matrix)} rows")
    row_of: dict[str, int] = {}
    for text, row in sorted(dictionary.items(), key=lambda item: item[1]):
        row_of.setdefault(modernize_statement(text), row)
    unknown = [row_of.pop(token) for token in ("!UNK", UNKNOWN) if token in row_of]
    vectors = matrix[list(row_of.values())]
    last = matrix[unknown[:1]] if unknown else l2_normalize(vectors).mean(axis=0, keepdims=True)
    counts = np.ones(len(row_of) + 1, np.int64)
    counts[-1] = bool(unknown)
    about = {
        "source": f"inst2vec ({dictionary_path.name}, {matrix_path.name})",
        "num_words": len(counts),
        "num_published_words": len(dictionary),
    }
    vocabulary = Vocabulary((*row_of, UNKNOWN), counts)
    return Embedding(vocabulary, l2_normalize(np.concatenate([vectors, last])), Abstraction.paper(), about)


def _read_dictionary(path: Path) -> dict[str, int]:
    content = _read_pickle(path)
    if not isinstance(content, dict) or not content:
        raise AssetError(f"{path}: expected a dictionary from statements to rows, found {type(content).__name__}")
    for text, row in content.items():
        if not isinstance(text, str) or type(row) is not int or row < 0:
            raise AssetError(f"{path}: expected a statement and its row, 0 or above, found {text!r:.80}: {row!r:.80}")
    return content


def _read_matrix(path: Path) -> Floats32:
    content = _read_pickle(path)
    if not isinstance(content, _Array):
        raise AssetError(f"{path}: expected a matrix of numbers, found {type(content).__name__}")
    with np.errstate(over="ignore"):
        matrix = content.array.astype(np.float32)
    if matrix.ndim != 2 or not matrix.size:
        raise AssetError(f"{path}: expected a matrix with a row per statement, found shape {matrix.shape}")
    if not (np.abs(matrix) < _MAX_NUMBER).all():
        raise AssetError(f"{path}: has numbers that are not finite, or too large to be squared; the file is damaged")
    return matrix


def _read_pickle(path: Path) -> Any:
    try:
        data = path.read_bytes()
        # C's unpickler allocates the memo before it looks: refuse places that the file can't fill
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name in {"PUT", "BINPUT", "LONG_BINPUT"} and not 0 <= int(argument or 0) <= len(data):
                raise ValueError(f"memo entry {argument} in a file of {len(data)} bytes")
        return _Unpickler(io.BytesIO(data), encoding="latin1").load()  # latin1: what Python 2 pickled
    except OSError as error:
        raise AssetError(f"{path}: can't be read: {error.strerror or error}") from error
    except Exception as error:  # a damaged pickle raises anything
        raise AssetError(f"{path}: can't be read as a pickle of inst2vec ({error})") from error


class _Unpickler(pickle.Unpickler):
    """An unpickler of plain data and numeric arrays, in which all that a pickle can name is a stand-in."""

    def find_class(self, module: str, name: str) -> "_Name":
        """Return the stand-in for one of the names with which NumPy's arrays are rebuilt."""
        is_numpy = module in {"numpy", "numpy.core.multiarray", "numpy._core.multiarray"}
        if not (is_numpy and name in {"_reconstruct", "ndarray", "dtype"}) and (module, name) != ("_codecs", "encode"):
            raise ValueError(f"it calls {module}.{name}, which could run any code")
        return _Name(name)


class _Name:
    """A callable that a pickle names; without a dictionary, so that the pickle can't change it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *arguments: Any) -> Any:
        if self.name == "_reconstruct":
            return _Array()
        if self.name == "dtype" and isinstance(arguments[0], str):
            return _Dtype(arguments[0])
        if self.name == "encode" and arguments[1:] == ("latin1",):  # bytes, in pickle protocols without them
            return arguments[0].encode("latin1")
        raise ValueError(f"{self.name} of {arguments!r:.80}")


class _Dtype:
    """A numeric dtype; its pickled state may set nothing but the byte order."""

    __slots__ = ("dtype",)

    def __init__(self, code: str) -> None:
        self.dtype = np.dtype(code)
        if self.dtype.kind not in "iuf":
            raise ValueError(f"an array of {code!r:.80}")

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, order, *fields = state
        if order not in {"<", ">", "|", "="} or fields[:3] != [None, None, None]:
            raise ValueError("a dtype of several parts, or of no byte order")
        self.dtype = self.dtype.newbyteorder(order)


class _Array:
    """An array of the size of its data."""

    __slots__ = ("array",)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, is_fortran, data = state
        content = data.encode("latin1") if isinstance(data, str) else data
        sizes = tuple(size if type(size) is int and size >= 0 else math.nan for size in shape)
        if not isinstance(dtype, _Dtype) or len(content) != math.prod(sizes) * dtype.dtype.itemsize:
            raise ValueError(f"an array of shape {shape!r:.80} whose data do not fill it")
        flat = np.frombuffer(content, dtype.dtype) if content else np.zeros(0, dtype.dtype)
        self.array = flat.reshape(shape, order="F" if is_fortran else "C")


_ADDRESS_SPACE = re.compile(r" *(addrspace\(\d+\))$")
_NAME = re.compile(r'%"[^"]*"$|[\w.$%-]+$')
_TYPED_INDEX = re.compile(r", <TYP> (\d+)$")
_INSERTED = re.compile(r"(?P<start>insertelement <(?:vscale x )?\d+ x (?P<element>[^<>]+)> [^,]+,) <TYP> ")
_OPENING = {"}": "{", "]": "[", ">": "<", ")": "("}
_MARK = "\0"
"""Surrounds the address space of a rewritten pointer, which so stays one word until the end."""
_MARKED = re.compile(f"{_MARK}([^{_MARK}]*){_MARK}")


def modernize_statement(text: str) -> str:
    """Rewrite a published statement with ``ptr`` for typed pointers and element indices without a type.

    >>> modernize_statement("store i32 (i8*)* <@ID>, i32 (i8*)* addrspace(1)* <%ID>")
    'store ptr <@ID>, ptr addrspace(1) <%ID>'
    """
    star = text.find("*")
    while star >= 0:
        before = text[:star]
        space = _ADDRESS_SPACE.search(before)
        start = _type_start(before[: space.start()] if space else before)
        if start is None:  # not a pointer's star
            star = text.find("*", star + 1)
        else:
            text = f"{text[:start]}{_MARK}{space[1] if space else ''}{_MARK}{text[star + 1 :]}"
            star = text.find("*", start)
    text = _MARKED.sub(lambda pointer: f"ptr {pointer[1]}".rstrip(), text)
    return _INSERTED.sub(r"\g<start> \g<element> ", _TYPED_INDEX.sub(r", \1", text))


def _type_start(before: str) -> int | None:
    """Return where the type at the end of a text starts; None if no type is there."""
    if before.endswith(_MARK):
        return before.rindex(_MARK, 0, -1)
    if before[-1:] in _OPENING:
        depth, start = 0, len(before)
        while start > 0 and (depth or start == len(before)):
            start -= 1
            depth += (before[start] in _OPENING) - (before[start] in _OPENING.values())
        if depth:
            return None
        # before a function's parameters stands what it returns
        return _type_start(before[:start].rstrip()) if before.endswith(")") else start
    name = _NAME.search(before)
    return name.start() if name else None
