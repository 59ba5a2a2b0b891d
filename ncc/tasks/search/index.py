"""`Index`: every function of a code base, searched for those nearest to some code."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats32
from ncc.errors import InputError, NccError
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.inputs import load_module
from ncc.ir.reader.functions import find_functions
from ncc.ir.reader.locations import function_locations
from ncc.ir.reader.module import Module
from ncc.learning.embedding.embedding import l2_normalize
from ncc.learning.encoder.pooling import Pooler, load_pooler
from ncc.system.files.reading import InputFile, read_input
from ncc.system.files.summaries import Summarized, Summary
from ncc.system.files.tables import data_frame
from ncc.system.files.text import align_columns, demangle, pluralize, short_path
from ncc.tasks.search.calibration import Calibration, shipped_calibration
from ncc.tasks.search.store import Function, Store

if TYPE_CHECKING:
    import pandas

    from ncc.tasks.search.duplicates import Duplicates

PERCENTAGES = "N% means that N% of pairs this similar or more are copies"


@dataclass(frozen=True)
class IndexReport:
    """Changes that a build made to an index.

    Attributes:
        num_functions: Functions in the index now.
        num_files: Files in the index now.
        num_updated: Files that were read this time.
        num_removed: Files that the index had and that no longer exist.
        failures: Path → reason, of files that could not be read.
    """

    num_functions: int
    num_files: int
    num_updated: int
    num_removed: int
    failures: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class IndexedFunction:
    """A function and its location.

    Attributes:
        file: Path of the file that it was read from.
        function: Its name, as the compiler mangled it.
        source: File of its source by debug information; empty if there is none, and lines are those of the IR.
        first_line: First line, from 1; 0 if unknown.
        last_line: Last line; 0 if unknown.
        num_statements: Number of statements, its ``define`` included.
        similarity: Inner product with the vector of the query, at most 1; 1 for the query itself.
        copy_rate: Fraction of copies among pairs with at least that similarity; None if not measured.
        folder: Folder in which the file was found and from which its source may be read; None for a named file.
        hash: Hash of the source when it was indexed, empty if it was not read; None for code of a query.
    """

    file: str
    function: str
    source: str
    first_line: int
    last_line: int
    num_statements: int
    similarity: float = 1.0
    copy_rate: float | None = None
    folder: str | None = field(default=None, repr=False)
    hash: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, function: Function, **about: Any) -> Self:
        """Make a function from its stored fields and some others."""
        fields: dict[str, Any] = function._asdict()
        return cls(function=fields.pop("name"), **fields, **about)

    @property
    def demangled(self) -> str:
        """Its demangled name, printable."""
        return demangle(self.function)

    @property
    def location(self) -> str:
        """File and lines; the file relative to the working directory if it is below that."""
        return f"{short_path(self.source or self.file)}:{self.first_line}-{self.last_line}"

    def to_dict(self) -> dict[str, Any]:
        """Fields of JSON and tables."""
        fields = {name: value for name, value in vars(self).items() if name not in ("folder", "hash")}
        return {"file": fields.pop("file"), "function": fields.pop("function"), "demangled": self.demangled, **fields}


def function_lines(functions: Iterable[IndexedFunction]) -> list[str]:
    """Lines of similarity, copy rate, location and name."""
    return align_columns(
        [
            (
                f"{function.similarity:.3f}",
                "" if function.copy_rate is None else f"{function.copy_rate:.0%}",
                function.location,
                function.demangled,
            )
            for function in functions
        ],
        left=(2, 3),
    )


@dataclass(frozen=True, eq=False)
class SearchResult(Summarized):
    """The functions nearest to a function, best first.

    Attributes:
        query: Function of the query.
        matches: Functions of the index.
        pooling: Name of the pooling that made the vectors.
    """

    query: IndexedFunction
    matches: tuple[IndexedFunction, ...]
    pooling: str

    def __len__(self) -> int:
        return len(self.matches)

    def __getitem__(self, rank: int) -> IndexedFunction:
        return self.matches[rank]

    def __iter__(self) -> Iterator[IndexedFunction]:
        return iter(self.matches)

    def __repr__(self) -> str:
        return f"SearchResult({len(self)} functions near {self.query.demangled!r})"

    def to_dataframe(self) -> "pandas.DataFrame":
        """Return a pandas table with one row per function."""
        return data_frame([match.to_dict() for match in self])

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of JSON."""
        matches = [match.to_dict() for match in self]
        return {"query": self.query.to_dict(), "matches": matches, "pooling": self.pooling}

    def summary(self) -> Summary:
        """Return the matches, best first."""
        has_rates = any(match.copy_rate is not None for match in self)
        return Summary(
            verdict=pluralize(len(self), "match", "es"),
            interval=f"{self.pooling} vectors",
            subject=f"{self.query.location}: {self.query.demangled}" if self.query.file else self.query.demangled,
            details=[("matches", function_lines(self)), ("copies", PERCENTAGES if has_rates else "")],
        )


@dataclass(frozen=True, eq=False)
class Index(Summarized):
    """An open index made by `ncc.index`; its files are read on first use.

    Attributes:
        store: Its files.
        report: Changes made by the build; None if the index was opened.
    """

    store: Store
    report: IndexReport | None = None

    def __len__(self) -> int:
        return self.store.card.num_functions

    def __repr__(self) -> str:
        files = len(self.store.files)
        return f"Index({str(self.store.folder)!r}: {len(self)} functions in {files} files, {self.pooling} vectors)"

    def summary(self) -> Summary:
        """Return the size, and the changes made by a build."""
        changes = ""
        if report := self.report:
            changes = f"{report.num_updated} updated, {report.num_removed} removed, {len(report.failures)} failed"
        return Summary(
            verdict=pluralize(len(self), "function"),
            interval=pluralize(len(self.store.files), "file"),
            confidence=self.pooling,
            subject=str(self.store.folder),
            details=[("changes", changes)],
        )

    @property
    def pooling(self) -> str:
        """Name of the pooling that made its vectors."""
        return self.store.card.pooling

    @property
    def num_bytes(self) -> int:
        """Size on disk."""
        return sum(size for size, _ in self.store.card.files.values())

    @property
    def vectors(self) -> NDArray[np.float16]:
        """(num_functions, dim) float16 vectors of length 1, memory-mapped."""
        return self.store.vectors

    @cached_property
    def pooler(self) -> Pooler:
        """The pooler that made its vectors.

        Raises:
            InputError: The embedding or encoder of the index is missing.
        """
        card = self.store.card
        embedding, encoder = (path and self.store.folder / path for path in (card.embedding, card.encoder))
        pooler = load_pooler(card.pooling, embedding, encoder)
        if pooler.id != card.pooler_id:
            raise InputError(
                f"{self.store.folder}: was made with {card.pooler_id}; this ncc has {pooler.id}: index again, into "
                "another folder"
            )
        return pooler

    @property
    def calibration(self) -> Calibration | None:
        """Copy rate at each similarity; None if not measured for vectors of this kind."""
        return shipped_calibration(self.store.card.pooler_id)

    def function_at(self, row: int, similarity: float = 1.0) -> IndexedFunction:
        """The function of a row."""
        function, file = self.store.function(row), self.store.file_of(row)
        return IndexedFunction.of(
            function,
            file=file.path,
            folder=file.folder,
            hash=file.hashes.get(function.source, ""),
            similarity=similarity,
            copy_rate=self.calibration.copy_rate(similarity, len(self)) if self.calibration else None,
        )

    def search(
        self,
        query: str | os.PathLike[str] | bytes | NDArray[np.floating],
        *,
        function: str | None = None,
        top: int = 10,
        options: CompileOptions | None = None,
    ) -> list[SearchResult]:
        """Find the functions nearest to those of some code.

        Args:
            query: A path or text as in `ncc.embed`, or a (dim,) vector.
            function: Name of one or several of its functions, mangled or not; default: all of them.
            top: Number of matches for each function.
            options: Compiler options.

        Returns:
            One result per function of the query; a function of the index doesn't match itself.

        Raises:
            NccError: As in `ncc.embed`.
            InputError: No function has that name, or the vector has another number of dimensions.
        """
        if top < 1:
            raise InputError(f"top is {top}; expected 1 or more")
        queries, vectors = self._queries(query, function, options)
        similarities, rows = self.store.nearest(vectors, top + 1)
        results = []
        for asked, values, near in zip(queries, similarities.tolist(), rows.tolist(), strict=True):
            itself = os.path.abspath(asked.file), asked.function  # noqa: PTH100 - as the index names files
            matches = map(self.function_at, near, values)
            others = [match for match in matches if (match.file, match.function) != itself]
            results.append(SearchResult(asked, tuple(others[:top]), self.pooling))
        return results

    def _queries(
        self, query: Any, function: str | None, options: CompileOptions | None
    ) -> tuple[list[IndexedFunction], Floats32]:
        """The functions of a query and their vectors, (num_queries, dim) float32 rows of length 1."""
        if isinstance(query, np.ndarray):
            if query.shape != (self.store.card.dim,):
                raise InputError(f"a vector of shape {query.shape}; the index has {self.store.card.dim} dimensions")
            asked = Function("<vector>", source="", first_line=0, last_line=0, num_statements=0)
            return [IndexedFunction.of(asked, file="")], l2_normalize(query[None, :].astype(np.float32))
        options = replace(options or CompileOptions(), debug_lines=True)
        module = load_module(query, options=options, abstraction=self.pooler.abstraction)
        module.check_functions()
        functions = range(module.num_functions) if function is None else find_functions(module, function)
        about = {"file": module.name, "folder": query.folder if isinstance(query, InputFile) else None}
        every = functions_of(module)
        queries = [IndexedFunction.of(every[row], **about) for row in functions]
        return queries, l2_normalize(self.pooler.vectors(module, functions))

    def duplicates(
        self, threshold: float | None = None, *, min_statements: int = 10, max_groups: int | None = None
    ) -> "Duplicates":
        """Find groups of similar functions, largest first.

        Args:
            threshold: Minimum similarity to the representative of a group; default: the similarity from which 90% of
                pairs are copies, or 0.98 if none was measured.
            min_statements: Smaller functions are skipped, since many of them are similar by chance.
            max_groups: Maximum number of groups; default: all.

        Raises:
            InputError: A value is out of its range.
        """
        from ncc.tasks.search.duplicates import find_duplicates

        return find_duplicates(self, threshold, min_statements=min_statements, max_groups=max_groups)

    def to_dataframe(self) -> "pandas.DataFrame":
        """Return a pandas table with one row per function, in the order of `vectors`."""
        functions = [self.store.function(row)._asdict() for row in range(len(self))]
        return data_frame(
            [
                {"file": self.store.file_of(row).path, **function, "demangled": demangle(function["name"])}
                for row, function in enumerate(functions)
            ]
        )


def load_index(folder: str | os.PathLike[str]) -> Index:
    """Open an index made by `ncc.index`.

    Args:
        folder: Folder of the index.

    Raises:
        InputError: There is no index.
        AssetError: A file is damaged or of another format version.
    """
    return Index(Store.open(Path(folder)))


def source_path(path: str, source: str) -> Path:
    """Return the path of the source that debug information names, or that of the file itself."""
    return Path(os.path.realpath(Path(path).parent / source if source else path))  # which may be a link to itself


def read_source(path: str, source: str, folder: str | None) -> bytes:
    """Read the file of a function, or the source that its debug information names, which must be in the folder.

    Raises:
        NccError: It can't be read, is no regular file, or lies elsewhere.
    """
    named = source_path(path, source)
    if named == source_path(path, ""):
        return read_input(InputFile(path, folder), is_regular=True)
    if folder is None or not named.is_relative_to(source_path(folder, "")):
        raise NccError(f"{source}: not in the index")
    return read_input(InputFile(str(named), folder), is_regular=True)


def functions_of(module: Module) -> list[Function]:
    """The functions of a module."""
    places = [(place.file, place.first_line, place.last_line) for place in function_locations(module)]
    sizes = np.diff(module.function_start).tolist()
    return [
        Function(name, *place, size) for name, place, size in zip(module.function_names, places, sizes, strict=True)
    ]
