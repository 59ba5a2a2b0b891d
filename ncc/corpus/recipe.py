"""Recipes: which files make a corpus and how each is compiled, as a TOML file or from a folder."""

import hashlib
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from ncc.errors import InputError
from ncc.frontend import SOURCE_EXTENSIONS, CompileOptions
from ncc.inputs import IR_EXTENSIONS

__all__ = ["Attempt", "CorpusFile", "Recipe", "Source", "find_files", "load_recipe"]


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
    sources = tuple(_source(path, row) for row in rows)
    unknown = set(table) - {"name", "width", "keep_callees"}
    if unknown or not sources:
        raise InputError(f"{path}: " + (f"unknown keys {sorted(unknown)}" if unknown else "has no [[source]]"))
    return Recipe(sources=sources, **({"name": path.stem} | table))


def _source(path: Path, row: dict[str, object]) -> Source:
    known = {field.name for field in fields(Source)}
    unknown = set(row) - known
    if unknown or not {"name", "folder"} <= set(row):
        raise InputError(f"{path}: a source has unknown keys {sorted(unknown)} or lacks 'name' or 'folder'")
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    if "attempts" in values:
        values["attempts"] = tuple(_attempt(path, attempt) for attempt in values["attempts"])  # type: ignore[attr-defined]
    return Source(**values)  # type: ignore[arg-type]


def _attempt(path: Path, row: dict[str, object]) -> Attempt:
    unknown = set(row) - {"language", "flags", "header"}
    if unknown:
        raise InputError(f"{path}: an attempt has unknown keys {sorted(unknown)}")
    header = row.get("header")
    return Attempt(
        language=row.get("language"),  # type: ignore[arg-type]
        flags=tuple(row.get("flags", ())),  # type: ignore[arg-type]
        header=str(path.parent / str(header)) if header else None,
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
    paths = {path for pattern in source.patterns or ("**/*",) for path in folder.glob(pattern) if path.is_file()}
    left_out = {path for pattern in source.exclude for path in folder.glob(pattern)}
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
