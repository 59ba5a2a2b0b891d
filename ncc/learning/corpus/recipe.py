"""Recipes: which files make a corpus and how each is compiled, as a TOML file or from a folder."""

import hashlib
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import ValidationError, convert

from ncc.errors import InputError, InputFileError
from ncc.ir.frontend.languages import SOURCE_EXTENSIONS
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.project import load_commands, own_flags
from ncc.ir.graph.contexts import MAX_WIDTH
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.objects import IR_EXTENSIONS, modules_of
from ncc.learning.programs.ir_cache import Attempts

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Table = TypeVar("_Table", bound="DataclassInstance")


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One way to compile a file: its language (default: from its extension), flags, and a header to prepend."""

    language: str | None = None
    flags: tuple[str, ...] = ()
    header: str | None = None


@dataclass(frozen=True, kw_only=True)
class Source:
    """One source of a corpus: files of a folder and how to compile them."""

    name: str  # in reports
    folder: str  # searched recursively; environment variables are expanded
    patterns: tuple[str, ...] = ()  # globs below the folder; default: every extension that ncc reads
    exclude: tuple[str, ...] = ()  # globs of files to leave out
    optimization: tuple[str, ...] = ("-O1",)  # each file is compiled at every level
    one_level: bool = False  # or each at one level, chosen by its name
    share: float = 1.0  # fraction of the files to use, chosen by their names
    attempts: tuple[Attempt, ...] = (Attempt(),)  # tried in order until one compiles
    include_paths: tuple[str, ...] = ()  # as in `CompileOptions`; relative to the folder
    defines: tuple[str, ...] = ()
    # a compile_commands.json below the folder: uses the files in it that match the patterns, with their flags
    commands: str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InputError(f"source {self.name}: share is {self.share}; expected more than 0 and at most 1")
        for name in ("optimization", "attempts"):
            if not getattr(self, name):
                raise InputError(f"source {self.name}: {name} is empty; expected one or more")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A corpus: its sources, how statements are abstracted, and how contexts are counted."""

    name: str  # in reports
    sources: tuple[Source, ...] = ()
    widths: tuple[int, ...] = (2,)  # context sizes in hops; each gets separate counts from one compilation
    max_degree: int | None = None  # see `ncc.ir.graph.contexts.count_contexts`
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
                patterns=source.patterns or (("**/*",) if commands else ()),  # files of the database
                commands=commands or source.commands,
            )
            for source in self.sources
        )
        return replace(self, sources=tuple(sources))


def load_recipe(path: str | os.PathLike[str], *, _including: frozenset[Path] = frozenset()) -> Recipe:
    """Read a recipe file, or make a recipe for a whole folder at ``-O1``.

    A recipe may ``include`` others: it uses their sources, but its own settings for counting.
    """
    path = Path(path)
    try:
        if path.is_dir():
            return Recipe(name=path.resolve().name, sources=(Source(name=path.resolve().name, folder=str(path)),))
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputFileError(f"{path!s:.200}: can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # also for numbers with thousands of digits, and for deep nesting
        raise InputError(f"{path}: not a recipe in TOML: {error}") from error
    if path.resolve() in _including:
        raise InputError(f"{path}: includes itself, directly or through other recipes")
    try:
        included = convert(table.pop("include", []), tuple[str, ...])
        sources = tuple(_source(row, path.parent) for row in convert(table.pop("source", []), list[dict[str, Any]]))
        abstraction = table.pop("abstraction", {})
        abstraction = (
            Abstraction.paper() if abstraction == "paper" else _convert(abstraction, Abstraction, "abstraction")
        )
        for name in included:
            sources += load_recipe(path.parent / name, _including=_including | {path.resolve()}).sources
        if not sources:
            raise InputError("has no [[source]]")
        return _convert({"name": path.stem} | table, Recipe, "recipe", sources=sources, abstraction=abstraction)
    except ValidationError as error:
        raise InputError(f"{path}: include or source: {error}") from error
    except InputError as error:
        raise type(error)(f"{path}: {error}") from error


def _convert(row: object, kind: type[_Table], noun: str, **values: Any) -> _Table:
    """Make a dataclass from a table and converted values; refuse unknown keys by name."""
    if not isinstance(row, dict):
        raise InputError(f"{noun} is {row!r:.200}; expected a table")
    keys = [key for key in kind.__dataclass_fields__ if key not in values]
    if unknown := sorted(row.keys() - keys):
        raise InputError(f"{noun}: unknown keys {unknown}; expected some of {', '.join(keys)}")
    try:
        return replace(convert(row, kind), **values)
    except ValidationError as error:
        raise InputError(f"{noun}: {error}") from error


def _source(row: dict[str, Any], folder: Path) -> Source:
    noun = f"source {row.get('name', '')}".rstrip()
    attempts = [_convert(attempt, Attempt, f"{noun}: attempt") for attempt in row.pop("attempts", [{}])]
    for index, attempt in enumerate(attempts):
        if attempt.header:
            # a header has the same name as in the included recipe, or cached IR would not be found
            header = os.path.normpath(folder / attempt.header)
            if not os.path.isfile(header):  # noqa: PTH113 - which refuses no name
                raise InputError(f"{noun}: {header:.200}: no such header")
            attempts[index] = replace(attempt, header=header)
    return _convert(row, Source, noun, attempts=tuple(attempts))


@dataclass(frozen=True)
class CorpusFile:
    """One file of a corpus, its source's name, and the attempts to compile it, in order (none for a file of IR)."""

    path: str
    source: str
    attempts: Attempts
    folder: str = field(default="", repr=False)  # that may be read; "" for the file's own


def find_files(recipe: Recipe) -> list[CorpusFile]:
    """Find all files of a recipe, sorted, one item per level at which a file is compiled."""
    return [file for source in recipe.sources for file in _files_of(source)]


def _files_of(source: Source) -> Iterator[CorpusFile]:
    folder = Path(_with_variables(source, source.folder)).expanduser()
    if not folder.is_dir():
        raise InputFileError(f"source {source.name}: {folder} is not a folder")
    folder = Path(os.path.normpath(folder.absolute()))  # workers may be in another folder
    database = str(folder / source.commands) if source.commands else None
    try:
        named = set(map(Path, load_commands(database))) if database else None
    except InputError as error:
        raise InputError(f"source {source.name}: {error}") from error
    if named is None or source.patterns:
        paths = {path for pattern in source.patterns or ("**/*",) for path in _search(source, folder, pattern)}
        paths &= paths if named is None else named
    else:
        paths = named
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
            attempts = _attempts(source, folder, level, str(path), database)
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


def _attempts(source: Source, folder: Path, level: str, path: str, database: str | None) -> Attempts:
    """Make compiler options from attempts; flags refer to the source's folder by ``{folder}``."""
    try:
        flags, database = own_flags(path, CompileOptions(commands=database)), None
    except InputError:
        flags = ()  # the error is raised when the file is compiled
    options = CompileOptions(
        optimization=level,
        include_paths=tuple(str(folder / _with_variables(source, path)) for path in source.include_paths),
        defines=source.defines,
        commands=database,
    )
    own = [tuple(flag.replace("{folder}", str(folder)) for flag in attempt.flags) for attempt in source.attempts]
    return tuple(
        (replace(options, language=attempt.language, flags=(*flags, *expanded)), attempt.header)
        for attempt, expanded in zip(source.attempts, own, strict=True)
    )
