"""Runs programs on untrusted input without the rights to read, write or start anything else.

The work is done by a small launcher, ``ncc/system/sandbox/confine.c``, which Linux alone has: it sets limits, gives up
rights by Landlock, and becomes the program. `SECURITY.md` says what that is for.
"""

import functools
import glob
import logging
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ncc.errors import NccError

logger = logging.getLogger(__name__)

_LOADERS = (
    *("/lib/ld-*", "/lib64/ld-*", "/lib/*/ld-*", "/usr/lib/ld-*", "/usr/lib64/ld-*"),
    *("/nix/store/*-glibc-*/lib/ld-*", "/gnu/store/*-glibc-*/lib/ld-*"),
)
_LAUNCHER = Path(__file__).with_name("_confine")
_FAILED = 125
_CAN_NOT_START = b"_confine: exec "
_REQUIRED = "NCC_REQUIRE_CONFINEMENT"

# What programs need to start and to print; the rest of an environment may hold passwords.
_ORDINARY = (
    *("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR", "TMP", "TEMP", "TZ"),
    *("SOURCE_DATE_EPOCH", "SDKROOT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "PATHEXT", "USERPROFILE", "LOCALAPPDATA"),
)


@dataclass(frozen=True, kw_only=True)
class Permissions:
    """Paths that a program may use; a folder stands for all that is below it, and one that is missing for nothing.

    Attributes:
        read: To read.
        write: To read, and to make, change and remove files.
        execute: To read and to start.
    """

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    execute: tuple[str, ...] = ()


@functools.cache
def find_loaders() -> tuple[str, ...]:
    """What starts programs that are linked to libraries: they need the right to start it too."""
    return tuple(path for pattern in _LOADERS for path in sorted(glob.glob(pattern)))  # noqa: PTH207 - no root to start at


@contextmanager
def require_confinement() -> Iterator[None]:
    """Context in which nothing is compiled or passed to LLVM unless the system can confine it, also in workers.

    The environment variable NCC_REQUIRE_CONFINEMENT=1 has the same effect on a whole process.

    >>> with require_confinement():
    ...     pass
    """
    before = os.environ.get(_REQUIRED)
    os.environ[_REQUIRED] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_REQUIRED]
        else:
            os.environ[_REQUIRED] = before


def check_confinement() -> None:
    """Says, once, that nothing but limits holds here, where that is so.

    Raises:
        NccError: It is so, and confinement is required.
    """
    if _LAUNCHER.exists() and landlock_version():
        return
    if os.environ.get(_REQUIRED):
        raise NccError(
            "confinement is required, but this system has no Landlock, or forbids it, to confine compilers and LLVM; "
            "use Linux 5.13 or later, or a container of its own without the requirement"
        )
    tell_unconfined()


@functools.cache
def tell_unconfined() -> None:
    """Says that nothing but limits holds here, where that is so and was not said."""
    if not _LAUNCHER.exists() or not landlock_version():
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
    """The command that runs a command within limits, and with these permissions only where the system can do that.

    Args:
        command: The path of an executable, and its arguments.
        permissions: What it may use.
        memory_bytes: The most address space it may take.
        file_bytes: The most it may write to a file.
        end_with_parent: Kill it when the thread that started it ends.

    Returns:
        The arguments to start; those given where there is no launcher.

    Raises:
        NccError: The system can't do that, and confinement is required.
    """
    check_confinement()
    if not _LAUNCHER.exists():
        return list(command)
    options: list[str] = []
    if memory_bytes is not None:
        options += ["--memory", str(memory_bytes)]
    if file_bytes is not None:
        options += ["--file", str(file_bytes)]
    if end_with_parent:
        options += ["--parent", str(os.getpid())]
    for right in ("read", "write", "execute"):
        for path in dict.fromkeys(getattr(permissions, right)):
            options += [f"--{right}", path]
    return [str(_LAUNCHER), *options, "--", *command]


def launcher_failure(returncode: int, stderr: bytes) -> OSError | None:
    """Why the launcher could not start its command; None where it could."""
    if returncode != _FAILED or not stderr.startswith(b"_confine: "):
        return None
    if stderr.startswith(_CAN_NOT_START):
        number = int(stderr.removeprefix(_CAN_NOT_START))
        return OSError(number, os.strerror(number))
    return OSError(0, stderr.decode(errors="replace").strip())


@functools.cache
def landlock_version() -> int:
    """The version of Landlock that confines programs here; 0 for none."""
    if not _LAUNCHER.exists():
        return 0
    asked = subprocess.run([_LAUNCHER, "--abi"], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return int(asked.stdout)


def describe_confinement() -> str:
    """What keeps compilers and LLVM from the rest of the system here, in words."""
    if not _LAUNCHER.exists():
        return "none (time limits only)"
    version = landlock_version()
    return f"Landlock ABI {version}" if version else "none (limits only)"


def quiet_environment() -> dict[str, str]:
    """What a confined program gets of the environment: where programs and libraries lie, and the C locale."""
    return {name: value for name, value in os.environ.items() if name in _ORDINARY} | {"LC_ALL": "C"}
