"""Files that ncc writes and reads back: atomic writes, and checked reading of versioned JSON and safetensors."""

import errno
import gzip
import hashlib
import json
import math
import os
import re
import secrets
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ncc.errors import AssetError, InputError, OutputError
from ncc.system.files.writing import only_writer
from ncc.system.sandbox.limits import input_limit, refuse_large

_MOST_UNCOMPRESSED = 1 << 31
"""Bytes that `read_compressed` gives at most."""
_PIECE = 1 << 22
_HASH = "tensors_sha256"
_NUMBERS = {"F16": "f", "F32": "f", "F64": "f", "BOOL": "b"} | {
    f"{kind}{bits}": kind.lower() for kind in "IU" for bits in (8, 16, 32, 64)
}
"""The types of numbers that NumPy knows and ncc writes, by their names in safetensors, and their NumPy kinds."""


@contextmanager
def open_atomically(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Opens a file that appears under its name, whole, when what is done with it ends well; folders are made.

    Until then it is called by a dot, the file's name and some random letters, which nothing reads.

    Raises:
        OutputError: The file can't be written.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            # opened plainly, so that it gets the permissions that any new file gets
            with temporary.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror or error}") from error


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a whole file or leaves what was there; missing folders are made.

    Raises:
        OutputError: The file can't be written.
    """
    with open_atomically(path) as file:
        file.write(data)


def write_output(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file that the user named, wherever that leads: a link stays one, a pipe or a device gets the data.

    Files in folders are not written so: a link there may be a stranger's.

    Raises:
        OutputError: The file can't be written.
    """
    path = Path(path)
    try:
        through = _opened_as_it_is(path)
        if through:
            with through as file:
                file.write(data)
            return
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror or error}") from error
    write_atomically(os.path.realpath(path) if path.is_symlink() else path, data)


def _opened_as_it_is(path: Path) -> IO[bytes] | None:
    """A pipe, a device, or where standard output goes already, to write to; None for other files."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    for own in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.fstat(own), found):  # opened anew, a file would be written from its start
                sys.stdout.flush()
                return open(os.dup(own), "wb")  # noqa: PTH123
    return None if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode) else path.open("wb")


def write_compressed(path: Path, data: bytes) -> None:
    """Keeps data that can be made again, by gzip; the same data give the same file.

    Raises:
        OutputError: The file can't be written.
    """
    write_atomically(path, gzip.compress(data, compresslevel=1, mtime=0))


def read_compressed(path: Path, most_bytes: int = _MOST_UNCOMPRESSED) -> bytes | None:
    """What `write_compressed` kept; None where that is missing, damaged or empty, and must be made again.

    So it is where more than ``most_bytes`` come out: a few bytes of gzip can hold more than memory does.
    """
    pieces, size = [], 0
    try:
        with gzip.open(path) as file:
            while piece := file.read(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > most_bytes:
                    return None
    except (OSError, EOFError, zlib.error):
        return None
    return b"".join(pieces) or None


def read_whole(path: Path) -> bytes:
    """The bytes of a file that ncc wrote, whose size is looked at first.

    Raises:
        AssetError: It can't be read, is not a regular file, or is too large.
    """
    with _refusing(path):
        refuse_large(path)
        return path.read_bytes()


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Has what is wrong with a file told as an error of assets; devices and pipes, which may never end, are refused."""
    try:
        _require_regular(path)
        yield
    except OSError as error:
        raise AssetError(f"{path}: can't be read: {error.strerror or error}") from error
    except InputError as error:
        raise AssetError(str(error)) from error


def read_json(path: Path, *format_versions: int) -> dict[str, Any]:
    """Reads a JSON object of a known format version.

    Raises:
        AssetError: It is missing, damaged, too large or of another version.
    """
    try:
        about = json.loads(read_whole(path))
    except MemoryError as error:
        raise AssetError(f"{path}: needs more memory than there is") from error
    except (ValueError, RecursionError) as error:
        raise AssetError(f"{path}: not JSON ({error}); the file is damaged") from error
    found = about.get("format_version") if isinstance(about, dict) else None
    if found not in format_versions or type(found) is not int:
        known = " or ".join(map(str, format_versions))
        raise AssetError(f"{path}: format version {found!r:.40}; this ncc reads version {known}")
    return about


def write_model(folder: Path, stem: str, card: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> None:
    """Writes a model's two files, STEM.safetensors and then STEM.json, which knows the hash of the former.

    Who writes one of the same folder at that time waits.

    Raises:
        OutputError: The folder can't be written, or something else is written there for too long.
    """
    from safetensors.numpy import save

    # contiguous: safetensors writes memory as it lies
    data = save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})
    whole = {**card, _HASH: hashlib.sha256(data).hexdigest()}
    with only_writer(folder):
        write_atomically(folder / f"{stem}.safetensors", data)
        write_atomically(folder / f"{stem}.json", (json.dumps(whole, ensure_ascii=False, indent=1) + "\n").encode())


def read_model(
    folder: Path,
    stem: str,
    format_version: int | tuple[int, ...],
    names: Iterable[str],
    *,
    kinds: str = "fiub",
    others: str | None = None,
    most_bytes: int | None = None,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The card and the tensors that `write_model` wrote.

    Args:
        folder: Of the model.
        stem: Name of its files.
        format_version: That the card must have, or those of which it must have one.
        names: As for `read_tensors`.
        kinds: As for `read_tensors`.
        others: As for `read_tensors`.
        most_bytes: Of all tensors; default an eighth of what a file may have, as halves may become doubles.

    Raises:
        AssetError: One is missing, damaged, too large, or of another version, or they were not written together.
    """
    versions = (format_version,) if isinstance(format_version, int) else format_version
    card = read_json(folder / f"{stem}.json", *versions)
    path = folder / f"{stem}.safetensors"
    with _refusing(path):
        refuse_large(path)
    tensors = read_tensors(path, names, kinds=kinds, others=others, most_bytes=most_bytes or input_limit() // 8)
    if _HASH in card and card[_HASH] != _sha256(path):
        raise AssetError(f"{path}: was not written with {stem}.json; a saving was cut short, or the file was changed")
    return card, tensors


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_tensors(
    path: Path,
    names: Iterable[str],
    *,
    kinds: str = "fiub",
    others: str | None = None,
    most_bytes: int | None = None,
) -> dict[str, NDArray[Any]]:
    """Reads arrays of a safetensors file; no others take memory, nor do these before their sizes are looked at.

    Args:
        path: The file.
        names: Of arrays that must be there; a mapping says their shapes.
        kinds: Of numbers that may be there, as NumPy names them: f, i, u, b.
        others: Regular expression of the names of further arrays to read.
        most_bytes: Of all that is read; default NCC_INPUT_GB, then 2 GiB.

    Raises:
        AssetError: The file is missing or damaged, lacks one of them, is too large, or has other numbers or shapes.
    """
    from safetensors import SafetensorError, safe_open

    shapes = dict(names) if isinstance(names, Mapping) else {}
    names = tuple(names)
    most_bytes = most_bytes or input_limit()
    try:
        with _refusing(path), safe_open(path, framework="numpy") as file:
            found = [name for name in file.keys() if name in names or re.fullmatch(others or "(?!)", name)]  # noqa: SIM118
            for name in found:
                array = file.get_slice(name)
                dtype, shape = array.get_dtype(), tuple(array.get_shape())
                if _NUMBERS.get(dtype, "none") not in kinds:
                    raise AssetError(f"{path}: {name!r:.80} has numbers of type {dtype}; the file is damaged")
                if shape != shapes.get(name, shape):
                    raise AssetError(
                        f"{path}: {name!r:.80} is damaged, or of another model: {shape} for {shapes[name]}"
                    )
                most_bytes -= math.prod(shape) * (1 if dtype == "BOOL" else int(dtype[1:]) // 8)
                if most_bytes < 0:
                    raise AssetError(f"{path}: {name!r:.80} is too large, of shape {shape}; NCC_INPUT_GB allows more")
            arrays = {name: file.get_tensor(name) for name in found}
    except (SafetensorError, TypeError, ValueError) as error:
        raise AssetError(f"{path}: not a safetensors file ({error}); the file is damaged") from error
    missing = [name for name in names if name not in arrays]
    if missing:
        raise AssetError(f"{path}: lacks {', '.join(missing)}; the file is damaged or from another tool")
    return {name: np.asarray(array) for name, array in arrays.items()}


def _require_regular(path: Path) -> None:
    """Refuses devices and pipes, which may never end."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # of a folder the system says more when it is opened
        raise OSError(errno.EINVAL, "not a regular file", str(path))
