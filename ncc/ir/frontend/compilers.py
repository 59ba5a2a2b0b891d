"""Finds the clang to run: the caller's, the one that NCC_CLANG names, or the one in the ziglang wheel."""

import functools
import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path

from ncc.errors import CompileError


@dataclass(frozen=True, kw_only=True)
class Clang:
    """A clang and where its name came from.

    Attributes:
        argv: What starts it; flags follow.
        origin: In words, for error messages.
        headers: The folder of headers that come with the bundled clang; None for a user's own clang,
            which has its own.
    """

    argv: tuple[str, ...]
    origin: str
    headers: Path | None


def find_compiler(clang: str | None = None) -> Clang:
    """Choose a compiler; nothing is started."""
    named = (clang, "the clang option"), (os.environ.get("NCC_CLANG"), "the environment variable NCC_CLANG")
    for name, origin in named:
        if name:
            # Not through a Path, which would turn "./clang" into a name to look for on PATH.
            executable = str(Path(name).expanduser()) if name.startswith("~") else name
            return Clang(argv=(executable,), origin=origin, headers=None)
    folder = _ziglang_folder()
    if folder is None:
        raise CompileError(
            "no compiler: the ziglang package, which brings one, is not installed; "
            "`pip install ziglang`, or name a clang with the clang option or NCC_CLANG"
        )
    zig = folder / ("zig.exe" if os.name == "nt" else "zig")
    # `zig clang` is the plain driver; `zig cc` would add sanitizers and flags of its own.
    return Clang(argv=(str(zig), "clang"), origin="the bundled ziglang package", headers=folder / "lib")


@functools.cache
def _ziglang_folder() -> Path | None:
    """Where the wheel lies, found without importing it."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])
