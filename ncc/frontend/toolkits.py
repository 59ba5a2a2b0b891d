"""Headers of an installed CUDA toolkit, for what our own headers lack: named by the user, or in NVIDIA's wheels."""

import importlib.util
import os
import re
from pathlib import Path

from ncc.errors import InputError

_VARIABLE = "NCC_CUDA_PATH"
_VERSION = re.compile(rb"^#define\s+CUDA_VERSION\s+(\d{4,6})\b", re.MULTILINE)
_OLDEST, _NEWEST = 9, 13
_PLACES = ("include", "targets/x86_64-linux/include", "targets/sbsa-linux/include")
_WHEELS = ("cu13", "cuda_runtime", "cuda_cccl", "curand", "cublas")


def toolkit_flags(named: str | None) -> tuple[str, ...]:
    """Flags by which headers of a toolkit are found, after all others.

    Args:
        named: Folder of a toolkit, as /usr/local/cuda; None for NCC_CUDA_PATH, then the wheels that ``ncc[cuda]``
            brings, and nothing where none of these is there.

    Raises:
        InputError: The named folder is no toolkit, or one of a version that is not known.
    """
    folders = _of_toolkit(named, "") if named else _of_toolkit(os.environ.get(_VARIABLE), f"{_VARIABLE}: ")
    folders = folders or _of_wheels()
    return tuple(part for folder in folders for part in ("-idirafter", str(folder)))


def _of_toolkit(named: str | None, origin: str) -> list[Path]:
    if not named:
        return []
    root = Path(named).expanduser().absolute()
    include = next((root / place for place in _PLACES if (root / place / "cuda.h").is_file()), None)
    if include is None:
        raise InputError(
            f"{origin}{named}: is no CUDA toolkit: expected a folder with include/cuda.h, as /usr/local/cuda"
        )
    found = _VERSION.search((include / "cuda.h").read_bytes())
    version = int(found[1]) // 1000 if found else None
    if version is None or not _OLDEST <= version <= _NEWEST:
        raise InputError(
            f"{origin}{named}: a CUDA toolkit of {f'version {version}' if version else 'an unknown version'}; expected "
            f"{_OLDEST} to {_NEWEST}; without one, ncc's own headers are used"
        )
    return _with_libraries(include)


def _of_wheels() -> list[Path]:
    spec = importlib.util.find_spec("nvidia")
    roots = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    includes = [root / name / "include" for root in roots for name in _WHEELS]
    return [folder for include in includes if include.is_dir() for folder in _with_libraries(include)]


def _with_libraries(include: Path) -> list[Path]:
    """A folder of headers, and that of the C++ core libraries (CUB, Thrust, libcu++), which moved with version 13."""
    return [folder for folder in (include / "cccl", include) if folder.is_dir()]
