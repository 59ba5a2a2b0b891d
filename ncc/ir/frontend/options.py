"""Compilation options that a user can set, checked when they are set."""

from dataclasses import dataclass, field, replace

from ncc.errors import InputError
from ncc.ir.frontend.languages import LANGUAGES

DEFAULT_CXX = "-std=gnu++17"
"""Requested standard of C++."""
_OPTIMIZATION_LEVELS = ("0", "1", "2", "3", "s", "z", "fast")


@dataclass(frozen=True, kw_only=True)
class CompileOptions:
    """How to turn source into LLVM IR.

    Attributes:
        clang: Path or name of a clang; default: NCC_CLANG, then the clang in the ziglang wheel.
        optimization: Optimization level, with or without "-O": 0, 1, 2, 3, s, z or fast.
        include_paths: Folders to search for headers.
        defines: Macros to define, "NAME" or "NAME=VALUE".
        flags: Extra clang flags, passed last: they override earlier ones.
        language: Source language: "c", "c++", "opencl" or "cuda"; default: from the file extension.
        debug_lines: Keep line numbers in the IR (-gline-tables-only).
        timeout_s: Time limit for the compiler in seconds.
        commands: A ``compile_commands.json``; files it lists are compiled with its header paths, macros, language
            standards and target features, followed by ``flags``.
        cuda_path: CUDA toolkit folder, for headers that ncc lacks; default: NCC_CUDA_PATH, then NVIDIA's wheels if
            installed.
        searched: Folders to search for headers after all others; this doesn't allow reading them.
        is_strict: Reject old C that compilers reject by default: undeclared functions and types, mismatched pointer
            types, ``return`` with a missing or superfluous value.
        verify: Check IR inputs with LLVM's verifier.

    Raises:
        InputError: Unknown level or language, a time limit not above 0, or a string instead of a tuple of strings.
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
    commands: str | None = field(default=None, repr=False)  # part of a cache key only through its flags for a file
    searched: tuple[str, ...] = field(default=(), repr=False)
    is_strict: bool = field(default=False, repr=False)  # changes whether code compiles, not its IR
    verify: bool = field(default=False, repr=False)  # does not change what is cached

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
            object.__setattr__(self, name, tuple(value))  # lists become tuples, so that options stay hashable

    @staticmethod
    def of(options: "CompileOptions | None", language: str | None) -> "CompileOptions":
        """Return the options of a verb, or the default ones, with its language.

        Raises:
            InputError: The language is unknown.
        """
        options = options or CompileOptions()
        return replace(options, language=language) if language else options
