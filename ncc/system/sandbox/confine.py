"""Runs programs on untrusted input that can't read, write or start anything else.

On Linux a small launcher, ``confine.c``, sets limits, gives up rights by Landlock, and becomes the program.
"""

import functools
import glob
import logging
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ncc.errors import NccError

logger = logging.getLogger(__name__)

_LOADERS = ("/lib*/ld-*", "/lib/*/ld-*", "/usr/lib*/ld-*", "/*/store/*-glibc-*/lib/ld-*")
_LAUNCHER = Path(__file__).with_name("_confine")
_FAILURE_CODE = 125
_REQUIRED = "NCC_REQUIRE_CONFINEMENT"

# Needed by programs to start and to print; other variables may contain passwords.
_ORDINARY = {
    "PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR", "TMP", "TEMP", "TZ", "SOURCE_DATE_EPOCH",
    "SDKROOT", "SYSTEMROOT",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Permissions:
    """Paths that a program may read or start, with all below a folder; missing paths are skipped."""

    read: tuple[str, ...] = ()
    execute: tuple[str, ...] = ()


@functools.cache
def find_loaders() -> tuple[str, ...]:
    """Return the dynamic loaders, which programs that use shared libraries need the right to start."""
    return tuple(path for pattern in _LOADERS for path in sorted(glob.glob(pattern)))  # noqa: PTH207 - no root to start at


@contextmanager
def require_confinement() -> Iterator[None]:
    """Refuse to run compilers or LLVM in this context unless they can be confined; workers inherit it.

    The environment variable NCC_REQUIRE_CONFINEMENT=1 has the same effect on a whole process.

    >>> with require_confinement():
    ...     pass
    """
    before = os.environ.get(_REQUIRED, "")
    os.environ[_REQUIRED] = "1"
    try:
        yield
    finally:
        os.environ[_REQUIRED] = before


def check_confinement() -> None:
    """Warn once if this system can't confine programs; raise `NccError` if confinement is required."""
    if os.environ.get(_REQUIRED) and not landlock_version():
        hint = "use Linux 5.13 or later, or a separate container without the requirement"
        raise NccError(f"confinement is required, but this system has no Landlock or forbids it; {hint}")
    warn_unconfined()


@functools.cache
def warn_unconfined() -> None:
    """Warn once if this system can't confine programs."""
    if not landlock_version():
        logger.warning(
            "ncc: this system can't confine compilers and LLVM (no Landlock): what they are given can read all that "
            "you can; --require-confinement, or NCC_REQUIRE_CONFINEMENT=1, refuses that"
        )


def confine(
    command: Sequence[str],
    permissions: Permissions,
    *,
    memory_bytes: int | None = None,
    file_bytes: int | None = None,
    end_with_parent: bool = False,
) -> list[str]:
    """Return the command that runs a command within limits and permissions; unchanged without a launcher."""
    check_confinement()
    if not _LAUNCHER.exists():
        return list(command)
    limits = {"memory": memory_bytes, "file": file_bytes, "parent": os.getpid() if end_with_parent else None}
    options = [(name, str(limit)) for name, limit in limits.items() if limit is not None]
    options += [(right, path) for right, paths in vars(permissions).items() for path in dict.fromkeys(paths)]
    return [str(_LAUNCHER), *(part for name, value in options for part in (f"--{name}", value)), "--", *command]


def launcher_failure(returncode: int, stderr: bytes) -> OSError | None:
    """Return why the launcher could not start its command; None if it could."""
    match = re.match(rb"_confine: (?:exec (\d+)|(.+))", stderr) if returncode == _FAILURE_CODE else None
    if not match:
        return None
    number = int(match[1] or 0)
    return OSError(number, os.strerror(number) if number else match[2].decode(errors="replace"))


@functools.cache
def landlock_version() -> int:
    """Return the version of Landlock on this system, 0 for none."""
    if not _LAUNCHER.exists():
        return 0
    return int(subprocess.run([_LAUNCHER, "--abi"], stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout)


def describe_confinement() -> str:
    """Describe what confines compilers and LLVM on this system."""
    if not _LAUNCHER.exists():
        return "none (time limits only)"
    return f"Landlock ABI {landlock_version()}" if landlock_version() else "none (limits only)"


def minimal_environment() -> dict[str, str]:
    """Return the environment of a confined program: paths of programs and libraries, and the C locale."""
    return {name: value for name, value in os.environ.items() if name in _ORDINARY} | {"LC_ALL": "C"}
