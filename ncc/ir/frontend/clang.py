"""The clang command line for each language; the only place that knows a language's flags."""

from collections.abc import Sequence
from pathlib import Path

from ncc.errors import InputError
from ncc.ir.frontend.compilers import Clang
from ncc.ir.frontend.diagnostics import DEFAULT_CXX
from ncc.ir.frontend.headers import OWN_HEADERS, default_target, header_flags
from ncc.ir.frontend.options import CompileOptions

# Old code that compilers took with a warning for decades, and now refuse.
_LENIENT = tuple(
    f"-Wno-error={name}"
    for name in (
        *("implicit-function-declaration", "implicit-int", "int-conversion"),
        *("incompatible-pointer-types", "incompatible-function-pointer-types", "return-type"),
    )
)


def compile_command(compiler: Clang, language: str, source: str | None, options: CompileOptions) -> tuple[str, ...]:
    """Spell out the command that prints the IR of one source file to standard output."""
    return (
        *compiler.argv,
        *("-S", "-emit-llvm", "-o", "-", "-fno-color-diagnostics", "-fno-crash-diagnostics"),
        *_optimization_flags(options.optimization),
        *_language_flags(compiler, language, options.flags),
        *(_LENIENT if language in ("c", "opencl") and not options.is_strict else ()),
        *(f"-I{Path(folder).absolute()}" for folder in options.include_paths),
        *(f"-D{define}" for define in options.defines),
        *(("-gline-tables-only",) if options.debug_lines else ()),
        *(f"-idirafter{folder}" for folder in options.searched),
        *options.flags,
        "-" if source is None else _whole_path(source),
    )


def _whole_path(source: str) -> str:
    """A path that is not an argument: a dash at its beginning would make it a flag, an @ a file of more arguments."""
    path = Path(source)
    if path.name.startswith("@"):  # the compiler proper is told the name without its folder
        raise InputError(f"{source}: compilers take a name that begins with @ for a file of arguments; rename the file")
    return str(path.absolute())


def _optimization_flags(level: str) -> tuple[str, ...]:
    # Recent clangs warn of -Ofast, which always was short for these two.
    return ("-O3", "-ffast-math") if level == "-Ofast" else (level,)


def _language_flags(compiler: Clang, language: str, user_flags: Sequence[str]) -> list[str]:
    if language == "opencl":
        return _opencl_flags()
    if language == "cuda":
        return _cuda_flags(compiler, user_flags)
    standard = DEFAULT_CXX if language == "c++" else "-std=gnu17"
    return ["-x", language, standard, *_host_flags(compiler, user_flags, cplusplus=language == "c++")]


def _host_flags(compiler: Clang, user_flags: Sequence[str], *, cplusplus: bool) -> list[str]:
    """Target and headers of the bundled clang; a user's own clang keeps its own."""
    if compiler.headers is None:
        return []
    default = default_target()
    target = _last_target(user_flags) or default
    return [f"--target={default}", *header_flags(compiler.headers, target, cplusplus=cplusplus)]


def _opencl_flags() -> list[str]:
    # 2.0 accepts what 1.x does, and pointers without an address space as well, which kernels written
    # for lenient drivers use. SPIR is the one target that keeps address spaces and spir_kernel.
    return [
        *("-x", "cl", "-cl-std=CL2.0", "--target=spir64", "-nostdinc", "-cl-no-stdinc"),
        *("-Xclang", "-fdeclare-opencl-builtins", "-include", str(OWN_HEADERS / "opencl" / "prelude.h")),
    ]


def _cuda_flags(compiler: Clang, user_flags: Sequence[str]) -> list[str]:
    prelude = OWN_HEADERS / "cuda" / "prelude.h"
    return [
        *("-x", "cuda", "-std=gnu++17", "--cuda-device-only", "--cuda-gpu-arch=sm_70"),
        # Shuffles need PTX 6; without a toolkit to go by, clang takes an older version.
        *("-Xclang", "-target-feature", "-Xclang", "+ptx64"),
        # A toolkit that happens to be installed would decide the PTX version; clang is told of none.
        *("-nocudainc", "-nocudalib", f"--cuda-path={prelude.parent}", "-Wno-unknown-cuda-version"),
        # What nvcc takes as it is: older C++, and narrower types in braces.
        *("-Wno-register", "-Wno-c++11-narrowing", "-Wno-dynamic-exception-spec"),
        *_host_flags(compiler, user_flags, cplusplus=True),
        *("-isystem", str(prelude.parent), "-include", str(prelude)),
    ]


def _last_target(flags: Sequence[str]) -> str | None:
    """Read the target that a user's own flags ask for, since it decides which headers fit."""
    target = None
    for position, flag in enumerate(flags):
        if flag.startswith("--target="):
            target = flag.removeprefix("--target=")
        elif flag in ("-target", "--target") and position + 1 < len(flags):
            target = flags[position + 1]
    return target
