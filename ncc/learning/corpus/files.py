"""The files of a recipe: found in folders or named by a compilation database, each with its options."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ncc.errors import InputError, InputFileError
from ncc.ir.frontend.languages import SOURCE_EXTENSIONS
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.project import load_commands
from ncc.ir.reader.objects import IR_EXTENSIONS, modules_of
from ncc.learning.corpus.recipe import Recipe, Source
from ncc.learning.programs.kept import Attempts


@dataclass(frozen=True)
class CorpusFile:
    """One file of a corpus and the ways to try, in order, until one compiles it (none for a file of IR).

    Attributes:
        path: Of the file.
        source: Name of the recipe's source.
        attempts: Options, and a header to put before the file or None.
        folder: The source's, all of which its files may read; empty for that of the file alone. What a build is made
            from does not depend on it.
    """

    path: str
    source: str
    attempts: Attempts
    folder: str = field(default="", repr=False)


def find_files(recipe: Recipe) -> list[CorpusFile]:
    """All files of a recipe, sorted, a row for every level at which a file is compiled.

    Raises:
        InputError: A folder is missing, or an environment variable in its name is not set, or a compilation
            database can't be read.
    """
    return [file for source in recipe.sources for file in _files_of(source)]


def _files_of(source: Source) -> Iterator[CorpusFile]:
    folder = _folder(source)
    flags = _read_commands(source, folder / source.commands) if source.commands else None
    if flags is None or source.patterns:
        paths = {path for pattern in source.patterns or ("**/*",) for path in _search(source, folder, pattern)}
        paths &= set(flags or paths)
    else:
        paths = set(flags)
    paths -= {path for pattern in source.exclude for path in _search(source, folder, pattern)}
    for path in sorted(paths):
        if not source.patterns and path.suffix not in IR_EXTENSIONS | SOURCE_EXTENSIONS:
            continue
        name = os.path.relpath(path, folder).encode("utf-8", "surrogateescape")
        digest = int.from_bytes(hashlib.sha256(name).digest()[:8])
        if digest / 2**64 >= source.share:
            continue
        if path.suffix in IR_EXTENSIONS:
            yield from (CorpusFile(module, source.name, (), str(folder)) for module in modules_of(path, folder))
            continue
        levels = source.optimization
        for level in (levels[digest % len(levels)],) if source.one_level else levels:
            attempts = _attempts(source, folder, level, flags[path] if flags else ())
            yield CorpusFile(str(path), source.name, attempts, str(folder))


def _folder(source: Source) -> Path:
    folder = Path(_with_variables(source, source.folder)).expanduser()
    if not folder.is_dir():
        raise InputFileError(f"source {source.name}: {folder} is not a folder")
    return Path(os.path.normpath(folder.absolute()))  # as compilation databases name files; for workers elsewhere


def _with_variables(source: Source, path: str) -> str:
    expanded = os.path.expandvars(path)
    if "$" in expanded:
        raise InputError(f"source {source.name}: {path} names an environment variable that is not set")
    return expanded


def _search(source: Source, folder: Path, pattern: str) -> list[Path]:
    problem = f"source {source.name}: pattern {pattern!r} can't be searched for"
    if Path(pattern).is_absolute():
        raise InputError(f"{problem}: it must be relative to the source's folder")
    try:
        return [path for path in folder.glob(pattern) if path.is_file()]
    except ValueError as error:
        raise InputError(f"{problem}: {error}") from error


def _attempts(source: Source, folder: Path, level: str, flags: tuple[str, ...]) -> Attempts:
    options = CompileOptions(
        optimization=level,
        include_paths=tuple(str(folder / _with_variables(source, path)) for path in source.include_paths),
        defines=source.defines,
    )
    return tuple(
        (replace(options, language=attempt.language, flags=(*flags, *_expanded(folder, attempt.flags))), attempt.header)
        for attempt in source.attempts
    )


def _expanded(folder: Path, flags: tuple[str, ...]) -> tuple[str, ...]:
    """Flags that name files of the source write ``{folder}``."""
    return tuple(flag.replace("{folder}", str(folder)) for flag in flags)


def _read_commands(source: Source, path: Path) -> Mapping[Path, tuple[str, ...]]:
    try:
        return load_commands(path)
    except InputError as error:
        raise InputError(f"source {source.name}: {error}") from error
