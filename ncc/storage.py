"""Files that ncc writes and trusts: atomic writes, and checked reading of versioned JSON and safetensors."""

import gzip
import json
import os
import secrets
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.errors import AssetError, OutputError

__all__ = ["read_compressed", "read_json", "read_tensors", "write_atomically", "write_compressed"]


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a whole file or leaves what was there; missing folders are made.

    Raises:
        OutputError: the file can't be written.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # opened plainly, so that it gets the permissions that any new file gets
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_compressed(path: Path, data: bytes) -> None:
    """Keeps data that can be made again, by gzip; the same data give the same file.

    Raises:
        OutputError: the file can't be written.
    """
    write_atomically(path, gzip.compress(data, compresslevel=1, mtime=0))


def read_compressed(path: Path) -> bytes | None:
    """What `write_compressed` kept; None where that is missing, damaged or empty, and must be made again."""
    try:
        return gzip.decompress(path.read_bytes()) or None
    except (OSError, EOFError, zlib.error):
        return None


def read_json(path: Path, format_version: int) -> dict[str, Any]:
    """Reads a JSON object of a known format version.

    Raises:
        AssetError: it is missing, damaged or of another version.
    """
    try:
        about = json.loads(path.read_bytes())
    except OSError as error:
        raise AssetError(f"{path}: can't be read: {error.strerror}") from error
    except ValueError as error:
        raise AssetError(f"{path}: is not JSON ({error}); the file is damaged") from error
    found = about.get("format_version") if isinstance(about, dict) else None
    if found != format_version:
        raise AssetError(f"{path}: format version {found!r}; this ncc reads version {format_version}")
    return about


def read_tensors(path: Path, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Reads the named arrays of a safetensors file.

    Raises:
        AssetError: the file is missing or damaged, or lacks one of them.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        arrays = load_file(path)
    except OSError as error:
        raise AssetError(f"{path}: can't be read: {error.strerror or error}") from error
    except (SafetensorError, TypeError, ValueError) as error:  # the latter for types of numbers that NumPy lacks
        raise AssetError(f"{path}: is not a safetensors file ({error}); the file is damaged") from error
    missing = [name for name in names if name not in arrays]
    if missing:
        raise AssetError(f"{path}: lacks {', '.join(missing)}; the file is damaged or from another tool")
    return {name: np.asarray(array) for name, array in arrays.items()}
