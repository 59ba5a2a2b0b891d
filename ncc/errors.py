"""Errors that ncc raises: every one says what was wrong, where, and what to do about it."""

from collections.abc import Iterator
from contextlib import contextmanager

_EXTRAS = {
    **dict.fromkeys(("gensim", "scipy", "sklearn", "torch"), "train"),
    **dict.fromkeys(("pandas", "pyarrow"), "tables"),
    "huggingface_hub": "hub",
    "torch_geometric": "pyg",
}
"""Optional packages, and the extra of ncc's distribution that installs each."""

COMMAND_LINE = "\ncommand: "
"""Start of the last line of a `CompileError`, the compiler's command, which may be long."""


class NccError(Exception):
    """Base class of every error that ncc raises on purpose."""


class InputError(NccError):
    """An input can't be used: missing, empty, of an unknown kind, or without the requested part."""


class InputFileError(InputError):
    """A named file or folder is missing, or can't be read."""


class UnknownNameError(InputError):
    """An input has no function, kernel or argument of the requested name."""


class CompileError(NccError):
    """The compiler refused a source file, ran out of time, or could not be started.

    Attributes:
        errors: The compiler's errors, one per line.
        stderr: The compiler's whole output.
        timed_out: Whether it ran out of time: another run may do better.
    """

    def __init__(
        self, message: str, errors: tuple[str, ...] = (), stderr: str = "", *, timed_out: bool = False
    ) -> None:
        super().__init__(message)
        self.errors, self.stderr, self.timed_out = errors, stderr, timed_out


class IRError(NccError):
    """LLVM IR or bitcode that can't be read, with file, line and column where they are known."""

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line, self.column = line, column


class AssetError(NccError):
    """A model, vocabulary or embedding file is missing, damaged or of an unknown format version."""


class DataError(NccError):
    """A dataset is missing, fails its checksum, or lacks columns."""


class OutputError(NccError):
    """A result can't be written to its destination."""


class MissingExtraError(NccError, ImportError):
    """A package is needed that an extra of ncc's distribution installs, such as torch for training."""


@contextmanager
def naming_extras(purpose: str = "") -> Iterator[None]:
    """Raise `MissingExtraError` if a package that an extra installs is missing; the message starts with its purpose."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        raise MissingExtraError(
            f"{purpose}{package} is needed, and is not installed: pip install 'ncc-ir[{_EXTRAS[package]}]'",
            name=package,
        ) from error


def check_positive(**values: float | None) -> None:
    """Raise `InputError` for a named value that is not a finite number above 0; None is skipped."""
    for name, value in values.items():
        if value is not None and not 0 < value < float("inf"):
            raise InputError(f"{name} is {value!r}; expected a number above 0")
