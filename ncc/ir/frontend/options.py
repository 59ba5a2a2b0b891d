"""Compilation options that a user can set, checked when they are set."""

from dataclasses import dataclass, field, replace

from ncc.errors import InputError
from ncc.ir.frontend.languages import LANGUAGES

DEFAULT_CXX = "-std=gnu++17"
"""The standard of C++ that is asked for."""
_OPTIMIZATION_LEVELS = ("0", "1", "2", "3", "s", "z", "fast")


@dataclass(frozen=True, kw_only=True)
class CompileOptions:
    """How to turn source into LLVM IR.

    Attributes:
        clang: Path or name of a clang; without it the environment variable NCC_CLANG, and without
            that the clang in the ziglang wheel.
        optimization: "-O1" and the like; the "-O" may be left out. Levels: 0, 1, 2, 3, s, z, fast.
        include_paths: Folders to search for headers, as with -I.
        defines: Macros, as with -D: "NAME" or "NAME=VALUE".
        flags: Further flags for clang, passed last, so that they win.
        language: One of "c", "c++", "opencl" and "cuda"; without it the file's extension decides.
        debug_lines: Keep line numbers in the IR (-gline-tables-only).
        timeout_s: Seconds after which the compiler is stopped.
        commands: A ``compile_commands.json``: files that it names are compiled with the header paths, macros, language
            standards and target features that it has for them, before ``flags``.
        cuda_path: Folder of a CUDA toolkit, whose headers are taken where ours lack one; without it NCC_CUDA_PATH, and
            without that NVIDIA's wheels, as far as they are installed.
        searched: Folders to search for headers after all others, which are not allowed to be read by that.
        is_strict: Refuse old C that compilers now refuse unless told otherwise: functions and types that nothing
            declares, pointers of other types, ``return`` with or without a value where it should be the other way.
        verify: Have LLVM's verifier allow what is given as IR.

    Raises:
        InputError: For an unknown level or language, a time limit that is not positive, or one string
            where a tuple of strings belongs.
    """

    clang: str | None = None
    optimization: str = "-O1"
    include_paths: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    language: str | None = None
    debug_lines: bool = False
    timeout_s: float = 60.0
    cuda_path: str | None = None
    commands: str | None = field(default=None, repr=False)  # named where it counts, by what it says of a file
    searched: tuple[str, ...] = field(default=(), repr=False)
    is_strict: bool = field(default=False, repr=False)  # changes what compiles, not what comes of it
    verify: bool = field(default=False, repr=False)  # what is kept by these options is the same

    def __post_init__(self) -> None:
        level = self.optimization.removeprefix("-O")
        if level not in _OPTIMIZATION_LEVELS:
            levels = ", ".join(f"-O{known}" for known in _OPTIMIZATION_LEVELS)
            raise InputError(f"unknown optimization level {self.optimization!r}; expected one of {levels}")
        if self.language is not None and self.language not in LANGUAGES:
            raise InputError(f"unknown language {self.language!r}; expected one of {', '.join(LANGUAGES)}")
        if not self.timeout_s > 0:
            raise InputError(f"the time limit (timeout_s) is {self.timeout_s!r}; expected a number of seconds above 0")
        object.__setattr__(self, "optimization", f"-O{level}")
        for name in ("include_paths", "defines", "flags", "searched"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise InputError(f"{name} is the string {value!r}; expected a tuple of strings: ({value!r},)")
            object.__setattr__(self, name, tuple(value))  # of a list, so that options stay hashable

    @staticmethod
    def of(options: "CompileOptions | None", language: str | None) -> "CompileOptions":
        """The options that a verb was given, or the usual ones, for a language that it was given by itself.

        Raises:
            InputError: For an unknown language.
        """
        options = options or CompileOptions()
        return replace(options, language=language) if language else options
