"""Model files: a card of versioned JSON with the hash of its tensors in safetensors, read within bounds."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.errors import AssetError, InputError
from ncc.system.files.hub import ASSETS
from ncc.system.files.reading import open_input
from ncc.system.files.writing import folder_lock, write_atomically
from ncc.system.sandbox.limits import input_limit

_HASH = "tensors_sha256"
_KINDS = {"F16": "f", "F32": "f", "F64": "f", "BOOL": "b"} | {
    f"{kind}{bits}": kind.lower() for kind in "IU" for bits in (8, 16, 32, 64)
}
"""Types of safetensors that ncc writes → NumPy's kinds."""


@contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    """Open a file that ncc wrote; `AssetError` if it is missing, too large, or a pipe or a device."""
    try:
        with open_input(path) as file:
            yield file
    except InputError as error:
        raise AssetError(str(error)) from error


def read_whole(path: Path) -> bytes:
    """Read a file that ncc wrote, after checking its size."""
    with _opened(path) as file:
        return file.read()


def read_json(path: Path, format_version: int) -> dict[str, Any]:
    """Read a JSON object of a format version; empty lists take twenty times their letters' memory."""
    max_bytes = input_limit() // 16
    with _opened(path) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise AssetError(f"{path}: has more than {max_bytes:,} bytes; raise NCC_INPUT_GB")
    try:
        card = json.loads(content)
    except MemoryError as error:
        raise AssetError(f"{path}: needs more memory than is available") from error
    except (ValueError, RecursionError) as error:
        raise AssetError(f"{path}: not JSON ({error}); the file is damaged") from error
    version = card.get("format_version") if isinstance(card, dict) else None
    if version != format_version or type(version) is not int:
        raise AssetError(f"{path}: format version {version!r:.40}; this ncc reads version {format_version}")
    return card


def write_model(folder: Path, stem: str, card: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> None:
    """Write STEM.safetensors and then STEM.json; concurrent writers of the folder wait."""
    from safetensors.numpy import save

    data = save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})  # it ignores strides
    whole = {**card, _HASH: hashlib.sha256(data).hexdigest()}
    with folder_lock(folder):
        write_atomically(folder / f"{stem}.safetensors", data)
        write_atomically(folder / f"{stem}.json", (json.dumps(whole, ensure_ascii=False, indent=1) + "\n").encode())


def read_model(
    folder: Path,
    stem: str,
    format_version: int,
    names: Sequence[str] | None = None,
    *,
    kinds: str = "fiub",
    max_bytes: int | None = None,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read card and tensors that `write_model` wrote; arguments are those of `read_tensors`."""
    card = read_json(folder / f"{stem}.json", format_version)
    path = folder / f"{stem}.safetensors"
    tensors = read_tensors(path, names, kinds=kinds, max_bytes=max_bytes or input_limit() // 8)
    with _opened(path) as file:
        # hashes of shipped models were checked at installation
        expected = None if path.is_relative_to(ASSETS) else card.get(_HASH)
        if expected is not None and expected != hashlib.file_digest(file, "sha256").hexdigest():
            raise AssetError(f"{path}: doesn't match {stem}.json; saving was interrupted, or the file was changed")
    return card, tensors


def read_tensors(
    path: Path, names: Sequence[str] | None = None, *, kinds: str = "fiub", max_bytes: int | None = None
) -> dict[str, NDArray[Any]]:
    """Read some or all arrays of a safetensors file, after checking their sizes; others take no memory."""
    from safetensors import SafetensorError, safe_open

    rest_bytes = max_bytes or input_limit()
    try:
        if path.exists() and not path.is_file():
            raise AssetError(f"{path}: is not a regular file")
        with safe_open(path, framework="numpy") as file:
            present = list(file.keys())
            if missing := [name for name in names or () if name not in present]:
                raise AssetError(f"{path}: lacks {', '.join(missing)}; the file is damaged or from another tool")
            wanted = present if names is None else names
            for name in wanted:
                array = file.get_slice(name)
                dtype, shape = array.get_dtype(), tuple(array.get_shape())
                if _KINDS.get(dtype, "none") not in kinds:
                    raise AssetError(f"{path}: {name!r:.80} has numbers of type {dtype}; the file is damaged")
                rest_bytes -= math.prod(shape) * (1 if dtype == "BOOL" else int(dtype[1:]) // 8)
                if rest_bytes < 0:
                    raise AssetError(f"{path}: {name!r:.80} is too large, of shape {shape}; raise NCC_INPUT_GB")
            return {name: np.asarray(file.get_tensor(name)) for name in wanted}
    except OSError as error:
        raise AssetError(f"{path}: can't be read: {error.strerror or error}") from error
    except (SafetensorError, TypeError, ValueError) as error:
        raise AssetError(f"{path}: not a safetensors file ({error}); the file is damaged") from error
