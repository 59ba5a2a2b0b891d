"""Recipes: which files make a corpus and how each is compiled, as a TOML file or from a folder."""

import hashlib
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from msgspec import ValidationError, convert

from ncc.errors import InputError, InputFileError
from ncc.ir.frontend.languages import SOURCE_EXTENSIONS
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.project import load_commands
from ncc.ir.graph.contexts import MAX_WIDTH
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.objects import IR_EXTENSIONS, modules_of
from ncc.learning.programs.ir_cache import Attempts

_Table = TypeVar("_Table")


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
        name: Name in reports.
        folder: Folder, searched recursively; environment variables are expanded.
        patterns: Globs below the folder; empty takes every extension that ncc reads.
        exclude: Globs of files to leave out.
        optimization: Levels; each file is compiled at every one, or at one of them if ``one_level`` is set.
        one_level: Choose the level by the file's name, so that a large source costs one compilation a file.
        share: Fraction of the files to take, chosen by their names.
        attempts: Attempts in order, until one compiles.
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
        if not 0 < self.share <= 1:
            raise InputError(f"source {self.name}: share is {self.share}; expected more than 0 and at most 1")
        for name in ("optimization", "attempts"):
            if not getattr(self, name):
                raise InputError(f"source {self.name}: {name} is empty; expected one or more")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A corpus: its sources, how statements are abstracted, and how contexts are counted.

    Attributes:
        name: Name in reports.
        sources: Sources of the files.
        widths: Context sizes in hops; each gets counts of its own, from one compilation.
        max_degree: Identifiers with more statements connect nothing; see `ncc.ir.graph.contexts.count_contexts`.
        abstraction: Abstraction of the statements.
    """

    name: str
    sources: tuple[Source, ...]
    widths: tuple[int, ...] = (2,)
    max_degree: int | None = None
    abstraction: Abstraction = field(default_factory=Abstraction)

    def __post_init__(self) -> None:
        if not self.widths or not all(1 <= width <= MAX_WIDTH for width in self.widths):
            raise InputError(f"recipe {self.name}: widths is {list(self.widths)}; expected numbers 1 to {MAX_WIDTH}")
        if self.max_degree is not None and not 2 <= self.max_degree < 1 << 31:
            raise InputError(f"recipe {self.name}: max_degree is {self.max_degree!s:.40}; expected 2 or more")

    def compiled_with(self, options: CompileOptions) -> "Recipe":
        """Add a user's header paths, macros, flags and compilation database to all sources."""
        folders = tuple(str(Path(folder).absolute()) for folder in options.include_paths)
        commands = str(Path(options.commands).absolute()) if options.commands else None
        sources = (
            replace(
                source,
                include_paths=(*source.include_paths, *folders),
                defines=(*source.defines, *options.defines),
                attempts=tuple(replace(attempt, flags=(*attempt.flags, *options.flags)) for attempt in source.attempts),
                patterns=source.patterns or (("**/*",) if commands else ()),  # those that the database names below it
                commands=commands or source.commands,
            )
            for source in self.sources
        )
        return replace(self, sources=tuple(sources))


def load_recipe(path: str | os.PathLike[str], *, _including: frozenset[Path] = frozenset()) -> Recipe:
    """Read a recipe file, or make the recipe that takes a whole folder at ``-O1``.

    A recipe may ``include`` others: it takes their sources, and counts them in its own way.
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
        raise InputFileError(f"{path}: can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # also of numbers with thousands of digits, and of depth
        raise InputError(f"{path}: not a recipe in TOML: {error}") from error
    try:
        included = _value("include", table.pop("include", []), tuple[str, ...])
        sources = tuple(_source(row, path.parent) for row in _value("source", table.pop("source", []), list[Any]))
        abstraction = table.pop("abstraction", {})
        if abstraction == "paper":
            abstraction = Abstraction.paper()
        else:
            abstraction = _convert(abstraction, Abstraction, "abstraction")
        for name in included:
            sources += load_recipe(path.parent / name, _including=_including | {path.resolve()}).sources
        if not sources:
            raise InputError("has no [[source]]")
        return _convert({"name": path.stem} | table, Recipe, "recipe", sources=sources, abstraction=abstraction)
    except InputError as error:
        raise type(error)(f"{path}: {error}") from error


def _value(key: str, value: object, kind: Any) -> Any:
    """Convert a value; a string for a list would be taken letter by letter."""
    try:
        return convert(value, kind)
    except ValidationError as error:
        raise InputError(f"{key} is {value!r:.200}: {error}") from error


def _convert(row: object, kind: type[_Table], noun: str, **values: Any) -> _Table:
    """Make a dataclass of a table and of values that are converted already; refuse other keys by name."""
    hints = {key: hint for key, hint in get_type_hints(kind).items() if key not in values}
    if not isinstance(row, dict):
        raise InputError(f"{noun} is {row!r:.200}; expected a table")
    if unknown := sorted(row.keys() - hints.keys()):
        raise InputError(f"{noun}: unknown keys {unknown}; expected some of {', '.join(hints)}")
    return kind(**{key: _value(f"{noun}: {key}", value, hints[key]) for key, value in row.items()}, **values)


def _source(row: object, folder: Path) -> Source:
    if not isinstance(row, dict) or "name" not in row or "folder" not in row:
        raise InputError("a source lacks 'name', or 'folder'")
    noun = f"source {row['name']}"
    attempts = _value(f"{noun}: attempts", row.pop("attempts", [{}]), list[Any])
    return _convert(row, Source, noun, attempts=tuple(_attempt(attempt, folder, noun) for attempt in attempts))


def _attempt(row: object, folder: Path, noun: str) -> Attempt:
    attempt = _convert(row, Attempt, f"{noun}: attempt")
    if attempt.header is None:
        return attempt
    # an included recipe's header is named as the recipe itself names it, or cached IR would not be found
    header = Path(os.path.normpath(folder / attempt.header))
    _check_path(header)
    if not header.is_file():
        raise InputError(f"{noun}: {header!s:.200}: no such header")
    return replace(attempt, header=str(header))


def _check_path(path: Path) -> None:
    """Refuse a name that no file can have: longer than the system takes, or with a NUL in it."""
    try:
        path.stat()
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputFileError(f"{path!s:.200}: can't be read: {reason}") from error


@dataclass(frozen=True)
class CorpusFile:
    """One file of a corpus, its source's name, and the attempts to compile it, in order (none for a file of IR)."""

    path: str
    source: str
    attempts: Attempts
    folder: str = field(default="", repr=False)  # all of it may be read; "" for the file's own. It identifies no build


def find_files(recipe: Recipe) -> list[CorpusFile]:
    """Find all files of a recipe, sorted, a row for every level at which a file is compiled."""
    return [file for source in recipe.sources for file in _files_of(source)]


def _files_of(source: Source) -> Iterator[CorpusFile]:
    folder = Path(_with_variables(source, source.folder)).expanduser()
    if not folder.is_dir():
        raise InputFileError(f"source {source.name}: {folder} is not a folder")
    folder = Path(os.path.normpath(folder.absolute()))  # as compilation databases name files; for workers elsewhere
    flags = None
    if source.commands:
        try:
            flags = load_commands(folder / source.commands)
        except InputError as error:
            raise InputError(f"source {source.name}: {error}") from error
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
    """Make compiler options of attempts; flags that name files of the source write ``{folder}``."""
    options = CompileOptions(
        optimization=level,
        include_paths=tuple(str(folder / _with_variables(source, path)) for path in source.include_paths),
        defines=source.defines,
    )
    own = [tuple(flag.replace("{folder}", str(folder)) for flag in attempt.flags) for attempt in source.attempts]
    return tuple(
        (replace(options, language=attempt.language, flags=(*flags, *expanded)), attempt.header)
        for attempt, expanded in zip(source.attempts, own, strict=True)
    )
