"""Recipes: which files make a corpus and how each is compiled, as a TOML file or from a folder."""

import os
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path

from ncc.errors import InputError
from ncc.graph.contexts import MAX_WIDTH
from ncc.ir import Abstraction

__all__ = ["Attempt", "Recipe", "Source", "load_recipe"]

_STRINGS = (list, "a list of strings")
_TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "name": (str, "a string"),
    "include": _STRINGS,
    "widths": (list, "a list of whole numbers"),
    "max_degree": (int, "a whole number"),
    "abstraction": ((dict, str), "a table, or 'paper'"),
    "keep_callees": (bool, "true or false"),
    "keep_immediates": (bool, "true or false"),
    "max_struct_fields": (int, "a whole number"),
    "folder": (str, "a string"),
    "patterns": _STRINGS,
    "exclude": _STRINGS,
    "optimization": _STRINGS,
    "one_level": (bool, "true or false"),
    "share": ((int, float), "a number"),
    "commands": (str, "a string"),
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
        name: What reports call it.
        folder: Folder, searched recursively; environment variables are expanded.
        patterns: Globs below the folder; empty takes every extension that ncc reads.
        exclude: Globs of files to leave out.
        optimization: Levels; each file is compiled at every one, or at one of them if ``one_level`` is set.
        one_level: Choose the level by the file's name, so that a large source costs one compilation a file.
        share: Part of the files to take, chosen by their names.
        attempts: Tried in order until one compiles.
        include_paths, defines: as for `CompileOptions`; relative paths are below ``folder``.
        commands: A ``compile_commands.json`` below ``folder``, as CMake and others write: takes the files that it
            names (and ``patterns`` match) with their header paths, macros, language standards and target features.
    """

    name: str
    folder: str = "."
    patterns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    optimization: tuple[str, ...] = ("-O1",)
    one_level: bool = False
    share: float = 1.0
    attempts: tuple[Attempt, ...] = (Attempt(),)
    include_paths: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    commands: str | None = None

    def __post_init__(self) -> None:
        """Checks the share and the optimisation levels.

        Raises:
            InputError: A value can't be used.
        """
        if not 0 < self.share <= 1:
            raise InputError(f"source {self.name}: share is {self.share}; expected more than 0 and at most 1")
        if not self.optimization:
            raise InputError(f"source {self.name}: no optimization level is named")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A corpus: its sources, how statements are abstracted, and how contexts are counted.

    Attributes:
        name: What reports call it.
        sources: Where the files are.
        widths: Context sizes in hops; each gets counts of its own, from one compilation.
        max_degree: Identifiers with more statements connect nothing; see `ncc.graph.count_contexts`.
        abstraction: Of the statements.
    """

    name: str
    sources: tuple[Source, ...]
    widths: tuple[int, ...] = (2,)
    max_degree: int | None = None
    abstraction: Abstraction = field(default_factory=Abstraction)

    def __post_init__(self) -> None:
        """Checks the widths and the degree.

        Raises:
            InputError: One is out of its range.
        """
        if not self.widths or not all(1 <= width <= MAX_WIDTH for width in self.widths):
            raise InputError(f"recipe {self.name}: widths is {list(self.widths)}; expected numbers 1 to {MAX_WIDTH}")
        if self.max_degree is not None and not 2 <= self.max_degree < 1 << 31:
            raise InputError(f"recipe {self.name}: max_degree is {self.max_degree!s:.40}; expected 2 or more")


def load_recipe(path: str | os.PathLike[str], *, _including: frozenset[Path] = frozenset()) -> Recipe:
    """Reads a recipe file, or makes the recipe that takes a whole folder at ``-O1``.

    A recipe may ``include`` others: it takes their sources, and counts them in its own way.

    Raises:
        InputError: There is no such file, it is no TOML, or it has keys that a recipe does not have.
    """
    path = Path(path)
    _check_path(path)
    if path.is_dir():
        return Recipe(name=path.resolve().name, sources=(Source(name=path.resolve().name, folder=str(path)),))
    if path.resolve() in _including:
        raise InputError(f"{path}: includes itself, by way of the recipes that it includes")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # also of numbers with thousands of digits, and of depth
        raise InputError(f"{path}: is not a recipe in TOML: {error}") from error
    rows = table.pop("source", [])
    included = table.pop("include", [])
    _check_types(path, "", {"include": included})
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path}: source is {rows!r}; expected tables, [[source]]")
    sources = tuple(_source(path, row) for row in rows)
    for name in included:
        sources += load_recipe(path.parent / name, _including=_including | {path.resolve()}).sources
    unknown = set(table) - {one.name for one in fields(Recipe)} | set(table) & {"sources"}
    if unknown or not sources:
        raise InputError(f"{path}: " + (f"unknown keys {sorted(unknown)}" if unknown else "has no [[source]]"))
    _check_types(path, "", table)
    table["abstraction"] = _abstraction(path, table.get("abstraction", {}))
    if "widths" in table:
        table["widths"] = tuple(table["widths"])
    return Recipe(sources=sources, **({"name": path.stem} | table))


def _check_path(path: Path) -> None:
    """Refuses a name that no file can have: longer than the system takes, or with a NUL in it.

    Raises:
        InputError: The system does not even look for it.
    """
    try:
        path.stat()
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path!s:.200}: can't be read: {reason}") from error


def _abstraction(path: Path, row: object) -> Abstraction:
    if row == "paper":
        return Abstraction.paper()
    if not isinstance(row, dict):
        raise InputError(f"{path}: abstraction is {row!r}; expected a table, or 'paper'")
    unknown = set(row) - {one.name for one in fields(Abstraction)}
    if unknown:
        raise InputError(f"{path}: abstraction has unknown keys {sorted(unknown)}")
    _check_types(path, "abstraction's ", row)
    if row.get("max_struct_fields", 0) >= 1 << 31:
        raise InputError(f"{path}: abstraction's max_struct_fields is beyond all measure")
    try:
        return Abstraction(**row)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _check_types(path: Path, where: str, row: dict[str, object]) -> None:
    """Refuses values of a wrong type: a string where a list belongs would be taken letter by letter."""
    for key, value in row.items():
        kind, what = _TYPES[key]
        right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if isinstance(value, list) and key != "attempts":
            element = int if key == "widths" else str
            right = right and all(isinstance(v, element) and not isinstance(v, bool) for v in value)
        if not right:
            raise InputError(f"{path}: {where}{key} is {value!r}; expected {what}")


def _source(path: Path, row: dict[str, object]) -> Source:
    known = {one.name for one in fields(Source)}
    unknown = set(row) - known
    if unknown or "name" not in row or "folder" not in row:
        raise InputError(f"{path}: a source has unknown keys {sorted(unknown)} or lacks 'name', or 'folder'")
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
    # an included recipe's header is named as the recipe itself names it, or kept IR would not be found
    header = Path(os.path.normpath(path.parent / row["header"])) if "header" in row else None
    if header:
        _check_path(header)
    if header and not header.is_file():
        raise InputError(f"{path}: an attempt names {header!s:.200}: no such header")
    return Attempt(
        language=row.get("language"), flags=tuple(row.get("flags", ())), header=str(header) if header else None
    )
