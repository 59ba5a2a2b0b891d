"""The clang to run, and its command line for each language; no other module has flags of a language.

The bundled clang is made independent of the machine: its own C and C++ headers come first, in the order of `zig c++`
(C++ library, clang's builtins, C library, kernel), headers of other libraries under /usr/include last.
"""

import importlib.util
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ncc.errors import CompileError, InputError
from ncc.ir.frontend.options import DEFAULT_CXX, CompileOptions


@dataclass(frozen=True, kw_only=True)
class Clang:
    """A clang, the origin of its name, and headers of the bundled one (None for a user's clang, which has its own)."""

    argv: tuple[str, ...]
    origin: str
    headers: Path | None


def find_compiler(clang: str | None = None) -> Clang:
    """Choose a compiler without starting it."""
    named = (clang, "the clang option"), (os.environ.get("NCC_CLANG"), "the environment variable NCC_CLANG")
    for name, origin in named:
        if name:
            # Not through a Path, which would turn "./clang" into a name that is searched on PATH.
            executable = str(Path(name).expanduser()) if name.startswith("~") else name
            return Clang(argv=(executable,), origin=origin, headers=None)
    folders = _package_folders("ziglang")
    if not folders:
        raise CompileError(
            "no compiler: the package ziglang is not installed; `pip install ziglang`, or name a clang with "
            "the clang option or NCC_CLANG"
        )
    # `zig clang` is the plain driver; `zig cc` would add sanitizers and other flags.
    return Clang(
        argv=(str(folders[0] / ("zig.exe" if os.name == "nt" else "zig")), "clang"),
        origin="the bundled ziglang package",
        headers=folders[0] / "lib",
    )


OWN_HEADERS = Path(__file__).parent

# Macros in place of libc++'s generated __config_site, which this copy lacks. Run-time checks are off, since
# they would drown a program's own statements in branches to abort.
_LIBCXX_DEFINES = """
ABI_VERSION=1 ABI_NAMESPACE=__1 HAS_THREADS=1 HAS_MONOTONIC_CLOCK=1 HAS_TERMINAL=1 HAS_MUSL_LIBC=0
HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0 HAS_FILESYSTEM=1 HAS_RANDOM_DEVICE=1 HAS_LOCALIZATION=1 HAS_UNICODE=1
HAS_WIDE_CHARACTERS=1 HAS_TIME_ZONE_DATABASE=1 HAS_NO_STD_MODULES PSTL_BACKEND_SERIAL DISABLE_VISIBILITY_ANNOTATIONS
HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE
"""

# These copies of glibc's headers leave its version to the command line; `zig c++` chooses this one too.
_GLIBC_DEFINE = "-D__GLIBC_MINOR__=31"

_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64", "ppc64le": "powerpc64le", "i686": "i386"}

# The folders of the C library and the kernel are named by processor family; the first match is used.
_FAMILIES = ("aarch64", "arm", "loongarch", "mips", "powerpc", "riscv", "s390x", "sparc", "x86")


def _architecture(name: str) -> str:
    lowered = name.lower()
    return _ARCHITECTURES.get(lowered, lowered)


def _search_flags(option: str, *folders: str | Path) -> list[str]:
    return [part for folder in folders for part in (option, str(folder))]


_CUDA_PATH = "NCC_CUDA_PATH"
_TORCH_HEADER = r"error: '(?:torch|ATen|c10)/[^']+' file not found"
_OLDEST, _NEWEST = 9, 13
_TOOLKIT_INCLUDES = ("include", "targets/x86_64-linux/include", "targets/sbsa-linux/include")
_NVIDIA_WHEELS = ("cu13", "cuda_runtime", "cuda_cccl", "curand", "cublas")


def toolkit_flags(named: str | None) -> tuple[str, ...]:
    """Return flags that search a toolkit's headers after all others."""
    if path := named or os.environ.get(_CUDA_PATH):
        includes = [_toolkit_include(path, "" if named else f"{_CUDA_PATH}: ")]
    else:
        includes = [root / name / "include" for root in _package_folders("nvidia") for name in _NVIDIA_WHEELS]
    # the C++ core libraries moved with version 13
    folders = [folder for include in includes for folder in (include / "cccl", include) if folder.is_dir()]
    # CUDA's C++ core libraries expect NVIDIA's header of half floats; ncc's has only the operations
    own = ("-DCCCL_DISABLE_FP16_SUPPORT", "-DCCCL_DISABLE_CTK_COMPATIBILITY_CHECK") if folders else ()
    return (*own, *_search_flags("-idirafter", *folders))


def with_extensions(options: CompileOptions, errors: Sequence[str], language: str) -> CompileOptions | None:
    """Return options that add PyTorch's headers if the compiler missed one of them."""
    is_missing = any(re.search(_TORCH_HEADER, error) for error in errors)
    includes = [root / "include" for root in _package_folders("torch")] if is_missing else []
    includes = [include for include in includes if (include / "torch").is_dir()]
    folders = [folder for include in includes for folder in (include, include / "torch/csrc/api/include")]
    if not folders or str(folders[-1]) in options.flags:
        return None
    declared = ("-DUSE_CUDA",) if language == "cuda" else ()
    return replace(options, flags=(*declared, *_search_flags("-idirafter", *folders), *options.flags))


def _toolkit_include(named: str, origin: str) -> Path:
    root = Path(named).expanduser().absolute()
    include = next((root / place for place in _TOOLKIT_INCLUDES if (root / place / "cuda.h").is_file()), None)
    if include is None:
        raise InputError(
            f"{origin}{named}: not a CUDA toolkit: expected a folder with include/cuda.h, such as /usr/local/cuda"
        )
    match = re.search(rb"(?m)^#define\s+CUDA_VERSION\s+(\d{4,6})\b", (include / "cuda.h").read_bytes())
    version = int(match[1]) // 1000 if match else None
    if version is None or not _OLDEST <= version <= _NEWEST:
        raise InputError(
            f"{origin}{named}: a CUDA toolkit of {f'version {version}' if version else 'an unknown version'}; expected "
            f"{_OLDEST} to {_NEWEST}; without one, ncc's own headers are used"
        )
    return include


def _package_folders(name: str) -> Sequence[Path]:
    """Find a package's folder without importing it."""
    spec = importlib.util.find_spec(name)
    return tuple(map(Path, spec.submodule_search_locations or ())) if spec else ()


# Old code that compilers accepted with a warning for decades and now refuse.
_LENIENT = tuple(
    f"-Wno-error={name}"
    for name in (
        *("implicit-function-declaration", "implicit-int", "int-conversion"),
        *("incompatible-pointer-types", "incompatible-function-pointer-types", "return-type"),
    )
)


def compile_command(compiler: Clang, language: str, source: str | bytes, options: CompileOptions) -> tuple[str, ...]:
    """Return the command that prints the IR of a source file to standard output."""
    return (
        *compiler.argv,
        *("-S", "-emit-llvm", "-o", "-", "-fno-color-diagnostics", "-fno-crash-diagnostics"),
        # recent clangs warn about -Ofast, which has always meant these two
        *(("-O3", "-ffast-math") if options.optimization == "-Ofast" else (options.optimization,)),
        *_language_flags(compiler, language, options.flags),
        *(_LENIENT if language in ("c", "opencl") and not options.is_strict else ()),
        *(f"-I{Path(folder).absolute()}" for folder in options.include_paths),
        *(f"-D{define}" for define in options.defines),
        *(("-gline-tables-only",) if options.debug_lines else ()),
        *(f"-idirafter{folder}" for folder in options.searched),
        *options.flags,
        "-" if isinstance(source, bytes) else _whole_path(source),
    )


def _whole_path(source: str) -> str:
    """Keep a path from being read as a flag (a leading dash) or as a file of arguments (a leading @)."""
    path = Path(source)
    if path.name.startswith("@"):  # cc1 gets the name without its folder
        raise InputError(f"{source}: compilers read a name that begins with @ as a list of arguments; rename the file")
    return str(path.absolute())


def _language_flags(compiler: Clang, language: str, user_flags: Sequence[str]) -> list[str]:
    if language == "opencl":
        # 2.0 also accepts 1.x and pointers without an address space, which occur in kernels written
        # for lenient drivers use. SPIR is the one target that keeps address spaces and spir_kernel.
        return [
            *("-x", "cl", "-cl-std=CL2.0", "--target=spir64", "-nostdinc", "-cl-no-stdinc"),
            *("-Xclang", "-fdeclare-opencl-builtins", "-include", str(OWN_HEADERS / "opencl" / "prelude.h")),
        ]
    if language == "cuda":
        prelude = OWN_HEADERS / "cuda" / "prelude.h"
        return [
            *("-x", "cuda", "-std=gnu++17", "--cuda-device-only", "--cuda-gpu-arch=sm_70"),
            # Shuffles need PTX 6; without a toolkit, clang assumes an older version.
            *("-Xclang", "-target-feature", "-Xclang", "+ptx64"),
            # Hide installed toolkits from clang, which would otherwise decide the PTX version.
            *("-nocudainc", "-nocudalib", f"--cuda-path={prelude.parent}", "-Wno-unknown-cuda-version"),
            # nvcc accepts older C++ and narrowing conversions in braces.
            *("-Wno-register", "-Wno-c++11-narrowing", "-Wno-dynamic-exception-spec"),
            *_host_flags(compiler, user_flags, cplusplus=True),
            *("-isystem", str(prelude.parent), "-include", str(prelude)),
        ]
    standard = DEFAULT_CXX if language == "c++" else "-std=gnu17"
    return ["-x", language, standard, *_host_flags(compiler, user_flags, cplusplus=language == "c++")]


def _host_flags(compiler: Clang, user_flags: Sequence[str], *, cplusplus: bool) -> list[str]:
    """Target and headers of the bundled clang, instead of its search path; a user's clang keeps its own."""
    headers = compiler.headers
    if headers is None:
        return []
    default = f"{_architecture(platform.machine())}-unknown-linux-gnu"  # whatever the operating system
    # a target in the user's flags decides which headers fit
    *_, target = default, *re.findall(r"(?m)^(?:--target=|--?target\n)(.+)", "\n".join(user_flags))
    architecture = _architecture(target.partition("-")[0])
    flags = [f"--target={default}", "-nostdinc"]
    if cplusplus:
        libraries = OWN_HEADERS / "cxx", headers / "libcxx/include", headers / "libcxxabi/include"
        flags += [
            *("-nostdinc++", *_search_flags("-isystem", *libraries)),
            *(f"-D_LIBCPP_{define}" for define in _LIBCXX_DEFINES.split()),
            "-D_LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS",
        ]
    libc = headers / "libc/include"
    known = (family for family in _FAMILIES if architecture.startswith(family))
    family = "x86" if architecture == "i386" else next(known, architecture)
    own = libc / f"{family}-linux-gnu", libc / "generic-glibc", libc / f"{family}-linux-any", libc / "any-linux-any"
    flags += [*_search_flags("-isystem", headers / "include", *own, OWN_HEADERS / "c"), _GLIBC_DEFINE]
    flags += _search_flags("-idirafter", f"/usr/include/{architecture}-linux-gnu", "/usr/include")
    return flags
