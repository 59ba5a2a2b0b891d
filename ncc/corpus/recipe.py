"""Recipes: which files make a corpus and how each is compiled, as a TOML file or from a folder."""

import hashlib
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from ncc.errors import InputError
from ncc.frontend import SOURCE_EXTENSIONS, CompileOptions
from ncc.graph.contexts import MAX_WIDTH
from ncc.inputs import IR_EXTENSIONS

__all__ = ["Attempt", "CorpusFile", "Recipe", "Source", "find_files", "load_recipe"]

_STRINGS = (list, "a list of strings")
_TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "name": (str, "a string"),
    "width": (int, "a whole number"),
    "keep_callees": (bool, "true or false"),
    "folder": (str, "a string"),
    "patterns": _STRINGS,
    "exclude": _STRINGS,
    "optimization": _STRINGS,
    "one_level": (bool, "true or false"),
    "share": ((int, float), "a number"),
    "attempts": (list, "a list of tables"),
    "include_paths": _STRINGS,
    "defines": _STRINGS,
    "language": (str, "a string"),
    "flags": _STRINGS,
    "header": (str, "a string"),
}


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One way to compile a file: its language (by default its extension's), flags, a header put before it."""

    language: str | None = None
    flags: tuple[str, ...] = ()
    header: str | None = None


@dataclass(frozen=True, kw_only=True)
class Source:
    """One source of a corpus: files of a folder and the ways to compile them.

    Attributes:
        name: what reports call it.
        folder: folder, searched recursively; environment variables are expanded.
        patterns: globs below the folder; empty takes every extension that ncc reads.
        exclude: globs of files to leave out.
        optimization: levels; each file is compiled at every one, or at one of them if ``one_level`` is set.
        one_level: choose the level by the file's name, so that a large source costs one compilation a file.
        share: part of the files to take, chosen by their names.
        attempts: tried in order until one compiles.
        include_paths, defines: as for `CompileOptions`; paths are relative to ``folder``.
    """

    name: str
    folder: str
    patterns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    optimization: tuple[str, ...] = ("-O1",)
    one_level: bool = False
    share: float = 1.0
    attempts: tuple[Attempt, ...] = (Attempt(),)
    include_paths: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Checks the share and the optimisation levels.

        Raises:
            InputError: a value can't be used.
        """
        if not 0 < self.share <= 1:
            raise InputError(f"source {self.name}: share is {self.share}; expected more than 0 and at most 1")
        if not self.optimization:
            raise InputError(f"source {self.name}: no optimization level is named")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A corpus: its sources, and the width at which contexts are counted."""

    name: str
    sources: tuple[Source, ...]
    width: int = 2
    keep_callees: bool = True

    def __post_init__(self) -> None:
        """Checks the width.

        Raises:
            InputError: it is out of its range.
        """
        if not 1 <= self.width <= MAX_WIDTH:
            raise InputError(f"recipe {self.name}: width is {self.width}; expected 1 to {MAX_WIDTH}")


@dataclass(frozen=True)
class CorpusFile:
    """One file of a corpus and the ways to try, in order, until one compiles it (none for a file of IR)."""

    path: str
    source: str
    attempts: tuple[tuple[CompileOptions, str | None], ...]


def load_recipe(path: str | os.PathLike[str]) -> Recipe:
    """Reads a recipe file, or makes the recipe that takes a whole folder at ``-O1``.

    Raises:
        InputError: there is no such file, it is no TOML, or it has keys that a recipe does not have.
    """
    path = Path(path)
    if path.is_dir():
        return Recipe(name=path.resolve().name, sources=(Source(name=path.resolve().name, folder=str(path)),))
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is not a recipe in TOML: {error}") from error
    rows = table.pop("source", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path}: source is {rows!r}; expected tables, [[source]]")
    sources = tuple(_source(path, row) for row in rows)
    unknown = set(table) - {"name", "width", "keep_callees"}
    if unknown or not sources:
        raise InputError(f"{path}: " + (f"unknown keys {sorted(unknown)}" if unknown else "has no [[source]]"))
    _check_types(path, "", table)
    return Recipe(sources=sources, **({"name": path.stem} | table))


def _check_types(path: Path, where: str, row: dict[str, object]) -> None:
    """Refuses values of a wrong type: a string where a list belongs would be taken letter by letter."""
    for key, value in row.items():
        kind, what = _TYPES[key]
        right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if not right or (isinstance(value, list) and key != "attempts" and not all(isinstance(v, str) for v in value)):
            raise InputError(f"{path}: {where}{key} is {value!r}; expected {what}")


def _source(path: Path, row: dict[str, object]) -> Source:
    known = {field.name for field in fields(Source)}
    unknown = set(row) - known
    if unknown or not {"name", "folder"} <= set(row):
        raise InputError(f"{path}: a source has unknown keys {sorted(unknown)} or lacks 'name' or 'folder'")
    where = f"source {row['name']}: "
    _check_types(path, where, row)
    if row.get("attempts") == []:
        raise InputError(f"{path}: {where}attempts is empty; leave it out to compile by the file's extension")
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    if "attempts" in values:
        values["attempts"] = tuple(_attempt(path, attempt) for attempt in values["attempts"])  # type: ignore[attr-defined]
    return Source(**values)  # type: ignore[arg-type]


def _attempt(path: Path, row: object) -> Attempt:
    if not isinstance(row, dict):
        raise InputError(f"{path}: an attempt is {row!r}; expected a table")
    unknown = set(row) - {"language", "flags", "header"}
    if unknown:
        raise InputError(f"{path}: an attempt has unknown keys {sorted(unknown)}")
    _check_types(path, "an attempt's ", row)
    header = path.parent / row["header"] if "header" in row else None
    if header and not header.is_file():
        raise InputError(f"{path}: an attempt names {header}: no such header")
    return Attempt(
        language=row.get("language"), flags=tuple(row.get("flags", ())), header=str(header) if header else None
    )


def find_files(recipe: Recipe) -> list[CorpusFile]:
    """All files of a recipe, sorted, a row for every level at which a file is compiled.

    Raises:
        InputError: a folder is missing, or an environment variable in its name is not set.
    """
    return [file for source in recipe.sources for file in _files_of(source)]


def _files_of(source: Source) -> Iterator[CorpusFile]:
    folder = Path(os.path.expandvars(source.folder)).expanduser()
    if "$" in str(folder):
        raise InputError(f"source {source.name}: {source.folder} names an environment variable that is not set")
    if not folder.is_dir():
        raise InputError(f"source {source.name}: {folder} is not a folder")
    paths = {path for pattern in source.patterns or ("**/*",) for path in _search(source, folder, pattern)}
    left_out = {path for pattern in source.exclude for path in _search(source, folder, pattern)}
    for path in sorted(paths - left_out):
        if not source.patterns and path.suffix not in IR_EXTENSIONS | SOURCE_EXTENSIONS:
            continue
        digest = int.from_bytes(hashlib.sha256(path.relative_to(folder).as_posix().encode()).digest()[:8])
        if digest / 2**64 >= source.share:
            continue
        if path.suffix in IR_EXTENSIONS:
            yield CorpusFile(str(path), source.name, ())
            continue
        levels = source.optimization
        for level in (levels[digest % len(levels)],) if source.one_level else levels:
            yield CorpusFile(str(path), source.name, _attempts(source, folder, level))


def _search(source: Source, folder: Path, pattern: str) -> list[Path]:
    try:
        return [path for path in folder.glob(pattern) if path.is_file()]
    except (ValueError, NotImplementedError) as error:
        raise InputError(f"source {source.name}: pattern {pattern!r} can't be searched for: {error}") from error


def _attempts(source: Source, folder: Path, level: str) -> tuple[tuple[CompileOptions, str | None], ...]:
    return tuple(
        (
            CompileOptions(
                language=attempt.language,
                optimization=level,
                flags=attempt.flags,
                include_paths=tuple(str(folder / path) for path in source.include_paths),
                defines=source.defines,
            ),
            attempt.header,
        )
        for attempt in source.attempts
    )
