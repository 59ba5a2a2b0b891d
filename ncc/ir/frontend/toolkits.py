"""Installed headers for what our own lack: from a CUDA toolkit, NVIDIA's wheels, or PyTorch."""

import importlib.util
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ncc.errors import InputError
from ncc.ir.frontend.options import CompileOptions

_VARIABLE = "NCC_CUDA_PATH"
_VERSION = re.compile(rb"^#define\s+CUDA_VERSION\s+(\d{4,6})\b", re.MULTILINE)
_OF_TORCH = re.compile(r"error: '(?:torch|ATen|c10)/[^']+' file not found")
_OLDEST, _NEWEST = 9, 13
_PLACES = ("include", "targets/x86_64-linux/include", "targets/sbsa-linux/include")
_WHEELS = ("cu13", "cuda_runtime", "cuda_cccl", "curand", "cublas")


def toolkit_flags(named: str | None) -> tuple[str, ...]:
    """Flags by which headers of a toolkit are found, after all others."""
    folders = _of_toolkit(named, "") if named else _of_toolkit(os.environ.get(_VARIABLE), f"{_VARIABLE}: ")
    folders = folders or _of_wheels()
    # CUDA's C++ core libraries look into NVIDIA's half floats and its version, and have ours, with the operations alone
    own = ("-DCCCL_DISABLE_FP16_SUPPORT", "-DCCCL_DISABLE_CTK_COMPATIBILITY_CHECK") if folders else ()
    return (*own, *(part for folder in folders for part in ("-idirafter", str(folder))))


def with_extensions(options: CompileOptions, errors: Sequence[str], language: str) -> CompileOptions | None:
    """Options by which PyTorch's headers are found, where one of them is what a compiler did not find; else None."""
    spec = importlib.util.find_spec("torch") if any(map(_OF_TORCH.search, errors)) else None
    roots = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    includes = [root / "include" for root in roots if (root / "include" / "torch").is_dir()]
    folders = [folder for include in includes for folder in (include, include / "torch/csrc/api/include")]
    if not folders or str(folders[-1]) in options.flags:
        return None
    declared = ("-DUSE_CUDA",) if language == "cuda" else ()
    found = tuple(part for folder in folders for part in ("-idirafter", str(folder)))
    return replace(options, flags=(*declared, *found, *options.flags))


def _of_toolkit(named: str | None, origin: str) -> list[Path]:
    if not named:
        return []
    root = Path(named).expanduser().absolute()
    include = next((root / place for place in _PLACES if (root / place / "cuda.h").is_file()), None)
    if include is None:
        raise InputError(
            f"{origin}{named}: not a CUDA toolkit: expected a folder with include/cuda.h, such as /usr/local/cuda"
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
