"""Include flags that make the bundled clang independent of the machine: its own C and C++ headers first.

The order is that of `zig c++`: C++ library, clang's builtins, C library, kernel. Headers of other
libraries under /usr/include are searched last.
"""

import platform
from pathlib import Path

OWN_HEADERS = Path(__file__).parent

# What libc++ finds in its generated __config_site; this copy has none and takes macros instead.
_LIBCXX_DEFINES = (
    "_LIBCPP_ABI_VERSION=1",
    "_LIBCPP_ABI_NAMESPACE=__1",
    "_LIBCPP_HAS_THREADS=1",
    "_LIBCPP_HAS_MONOTONIC_CLOCK=1",
    "_LIBCPP_HAS_TERMINAL=1",
    "_LIBCPP_HAS_MUSL_LIBC=0",
    "_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0",
    "_LIBCPP_HAS_FILESYSTEM=1",
    "_LIBCPP_HAS_RANDOM_DEVICE=1",
    "_LIBCPP_HAS_LOCALIZATION=1",
    "_LIBCPP_HAS_UNICODE=1",
    "_LIBCPP_HAS_WIDE_CHARACTERS=1",
    "_LIBCPP_HAS_TIME_ZONE_DATABASE=1",
    "_LIBCPP_HAS_NO_STD_MODULES",
    "_LIBCPP_PSTL_BACKEND_SERIAL",
    "_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS",
    "_LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS",
    # No run-time checks: they would drown a program's own statements in branches to abort.
    "_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE",
    "_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE",
)

# These copies of glibc's headers leave its version to the command line; `zig c++` chooses this one too.
_GLIBC_DEFINE = "-D__GLIBC_MINOR__=31"

_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64", "ppc64le": "powerpc64le", "i686": "i386"}

# The C library's and the kernel's folders are named by families, of which the first that fits is taken.
_FAMILIES = ("aarch64", "arm", "loongarch", "mips", "powerpc", "riscv", "s390x", "sparc", "x86")


def default_target() -> str:
    """Name the Linux target of this machine's architecture, whatever its operating system."""
    return f"{_architecture(platform.machine())}-unknown-linux-gnu"


def header_flags(headers: Path, target: str, *, cplusplus: bool) -> list[str]:
    """Replace the compiler's search path by the bundled headers."""
    architecture = _architecture(target.split("-", maxsplit=1)[0])
    flags = ["-nostdinc"]
    if cplusplus:
        flags.append("-nostdinc++")
        flags += _isystem(OWN_HEADERS / "cxx", headers / "libcxx/include", headers / "libcxxabi/include")
        flags += [f"-D{define}" for define in _LIBCXX_DEFINES]
    libc = headers / "libc/include"
    family = _family(architecture)
    flags += _isystem(headers / "include", libc / f"{family}-linux-gnu", libc / "generic-glibc")
    flags += _isystem(libc / f"{family}-linux-any", libc / "any-linux-any", OWN_HEADERS / "c")
    flags.append(_GLIBC_DEFINE)
    for folder in (f"/usr/include/{architecture}-linux-gnu", "/usr/include"):
        flags += ["-idirafter", folder]
    return flags


def _architecture(name: str) -> str:
    lowered = name.lower()
    return _ARCHITECTURES.get(lowered, lowered)


def _family(architecture: str) -> str:
    if architecture == "i386":
        return "x86"
    return next((family for family in _FAMILIES if architecture.startswith(family)), architecture)


def _isystem(*folders: Path) -> list[str]:
    return [part for folder in folders for part in ("-isystem", str(folder))]
