"""`Index`: every function of a code base, to be searched for those nearest to some code."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats32
from ncc.errors import InputError, NccError, UnknownNameError
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.inputs import load_module
from ncc.ir.reader.functions import MAY_BE_INLINED, some_names
from ncc.ir.reader.module import Module
from ncc.ir.reader.places import function_places
from ncc.learning.embedding.embedding import normalised
from ncc.learning.encoder.pooling import Pooler, load_pooler
from ncc.system.files.pages import html_table
from ncc.system.files.reading import FoundFile
from ncc.system.files.text import source_name
from ncc.tasks.search.calibration import Calibration, load_calibration, shipped_calibration
from ncc.tasks.search.store import Store

if TYPE_CHECKING:
    import pandas

    from ncc.tasks.search.duplicates import Duplicates


@dataclass(frozen=True)
class IndexReport:
    """What became of the files of an index.

    Attributes:
        num_functions: In the index now.
        num_files: In the index now.
        num_read: Files that were read this time.
        num_gone: Files that the index had, and that are no longer there.
        failures: Path → reason, of files that could not be read.
    """

    num_functions: int
    num_files: int
    num_read: int
    num_gone: int
    failures: dict[str, str] = field(default_factory=dict)

    def to_text(self) -> str:
        """One line for people."""
        return (
            f"{self.num_functions} functions of {self.num_files} files; {self.num_read} read, {self.num_gone} gone, "
            f"{len(self.failures)} failed"
        )


@dataclass(frozen=True, kw_only=True)
class Found:
    """A function and where it is.

    Attributes:
        file: Path of the file that it was read from.
        function: Its name, as the compiler mangled it.
        source: File of its source by debug information; empty where there is none, and lines are those of the IR.
        first_line: From 1; 0 where nobody knows.
        last_line: The same.
        num_statements: Its ``define`` included.
        similarity: To what was asked about: the inner product of both vectors, 1 at most; that of itself in a query.
        share: Of the pairs as alike as that or more, how many are the same code; None where that was not measured.
        folder: In which the file was found, and which its source may be read from; None for a file that was named.
    """

    file: str
    function: str
    source: str
    first_line: int
    last_line: int
    num_statements: int
    similarity: float = 1.0
    share: float | None = None
    folder: str | None = field(default=None, repr=False)

    @property
    def demangled(self) -> str:
        """Its name as the source has it, printable."""
        return source_name(self.function)

    @property
    def place(self) -> str:
        """File and lines, the file from the working directory where it is below that."""
        path = self.source or self.file
        if Path(path).is_absolute():
            below = os.path.relpath(path)
            path = path if below.startswith(os.pardir) else below
        return f"{path}:{self.first_line}-{self.last_line}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON and tables."""
        return {
            "file": self.file,
            "function": self.function,
            "demangled": self.demangled,
            "source": self.source,
            "first_line": self.first_line,
            "last_line": self.last_line,
            "num_statements": self.num_statements,
            "similarity": self.similarity,
            "share": self.share,
        }


@dataclass(frozen=True, eq=False)
class Matches:
    """The functions nearest to one, best first.

    Attributes:
        query: What was asked about.
        found: Of the index.
        pooling: Of the vectors.
    """

    query: Found
    found: tuple[Found, ...]
    pooling: str

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, number: int) -> Found:
        return self.found[number]

    def __iter__(self) -> Iterator[Found]:
        return iter(self.found)

    def __repr__(self) -> str:
        return f"Matches({len(self)} functions near {self.query.demangled!r})"

    def to_dataframe(self) -> "pandas.DataFrame":
        """A pandas table: a row a function."""
        return dataframe([found.to_dict() for found in self])

    def _repr_html_(self) -> str:
        rows = [(f"{one.similarity:.3f}", one.demangled, one.place) for one in self]
        return html_table(f"near {self.query.demangled}", ("similarity", "function", "place"), rows)


@dataclass(frozen=True, eq=False)
class Index:
    """An open index made by `ncc.index`; its parts are read when they are first needed.

    Attributes:
        store: Its files.
        report: What became of the files that it was just made of; None where it was opened.
        own_calibration: How sure a similarity is; None for what ships with ncc for vectors of this kind.
    """

    store: Store
    report: IndexReport | None = None
    own_calibration: Calibration | None = None

    def __len__(self) -> int:
        return self.store.card.num_functions

    def __repr__(self) -> str:
        files = len(self.store.files)
        return f"Index({str(self.store.folder)!r}: {len(self)} functions of {files} files, by {self.pooling})"

    @property
    def pooling(self) -> str:
        """How its vectors were made."""
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
        """What makes vectors like its own.

        Raises:
            InputError: The embedding or encoder that it was made with is no longer there.
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

    @cached_property
    def calibration(self) -> Calibration | None:
        """How sure a similarity is; None where that was not measured for vectors of this kind."""
        return self.own_calibration or shipped_calibration(self.store.card.pooler_id)

    def at(self, row: int, similarity: float = 1.0) -> Found:
        """A function by its row."""
        about = {name: column[0] for name, column in self.store.functions.slice(row, 1).to_pydict().items()}
        number = about.pop("file")
        share = self.calibration.share(similarity, len(self)) if self.calibration else None
        path, folder = (self.store.files[name][number].as_py() for name in ("path", "folder"))
        about["function"] = about.pop("name")
        return Found(file=path, folder=folder, similarity=similarity, share=share, **about)

    def search(
        self,
        query: str | os.PathLike[str] | bytes | NDArray[np.floating],
        *,
        function: str | None = None,
        top: int = 10,
        options: CompileOptions | None = None,
    ) -> list[Matches]:
        """The functions nearest to those of some code.

        Args:
            query: A path or a text, as for `ncc.embed`; or a (dim,) vector.
            function: Name of one of its functions, mangled or not; default all of them.
            top: Number of functions to find for each.
            options: How source is compiled.

        Returns:
            An answer for each function that was asked about; a function of the index is not its own answer.

        Raises:
            NccError: As from `ncc.embed`.
            InputError: There is no such function, or the vector has another number of dimensions.
        """
        if top < 1:
            raise InputError(f"top is {top}; expected 1 or more")
        asked, vectors = self._asked(query, function, options)
        found, rows = self.store.nearest(vectors, top + 1)
        answers = []
        for one, values, numbers in zip(asked, found.tolist(), rows.tolist(), strict=True):
            near = [self.at(row, value) for row, value in zip(numbers, values, strict=True)]
            own = os.path.abspath(one.file), one.function  # noqa: PTH100 - as the index names files
            others = [match for match in near if (match.file, match.function) != own]
            answers.append(Matches(one, tuple(others[:top]), self.pooling))
        return answers

    def _asked(self, query: Any, function: str | None, options: CompileOptions | None) -> tuple[list[Found], Floats32]:
        if isinstance(query, np.ndarray):
            if query.shape != (self.store.card.dim,):
                raise InputError(f"a vector of shape {query.shape}; the index has {self.store.card.dim} dimensions")
            nobody = Found(file="", function="<vector>", source="", first_line=0, last_line=0, num_statements=0)
            return [nobody], normalised(query[None, :].astype(np.float32))
        module = load_module(
            query, options=replace(options or CompileOptions(), debug_lines=True), abstraction=self.pooler.abstraction
        )
        numbers = _functions_called(module, function)
        vectors = normalised(self.pooler.vectors(module, numbers))
        places, sizes = function_places(module), np.diff(module.function_start).tolist()
        folder = query.folder if isinstance(query, FoundFile) else None
        asked = [
            Found(
                file=module.name,
                function=module.function_names[number],
                source=places[number].file,
                first_line=places[number].first_line,
                last_line=places[number].last_line,
                num_statements=sizes[number],
                folder=folder,
            )
            for number in numbers
        ]
        return asked, vectors

    def duplicates(
        self, threshold: float | None = None, *, min_statements: int = 10, most: int | None = None
    ) -> "Duplicates":
        """Groups of functions that are alike, biggest first.

        Args:
            threshold: Least similarity to the function in the middle of a group; default one at which nine of ten
                pairs are the same code, or 0.98 where that was not measured or none is.
            min_statements: Smaller functions are left out: there are many alike, by chance.
            most: Number of groups; default all.

        Raises:
            InputError: A value is out of its range.
        """
        from ncc.tasks.search.duplicates import find_duplicates

        return find_duplicates(self, threshold, min_statements=min_statements, most=most)

    def to_dataframe(self) -> "pandas.DataFrame":
        """A pandas table: a row a function, in the order of `vectors`."""
        table = self.store.functions.to_pydict()
        paths = self.store.files["path"].to_pylist()
        table["file"] = [paths[number] for number in table["file"]]
        table["demangled"] = list(map(source_name, table["name"]))
        return dataframe(table)


def load_index(
    folder: str | os.PathLike[str], *, calibration: Calibration | str | os.PathLike[str] | None = None
) -> Index:
    """Opens an index made by `ncc.index`.

    Args:
        folder: Of the index.
        calibration: How sure similarities are, or its file, as ``ncc_lab.retrieval.calibration`` makes it; default the
            one that ships with ncc for vectors of this kind.

    Raises:
        InputError: There is none, or the calibration is of vectors of another kind.
        AssetError: A file is damaged or of another format version.
    """
    store = Store.open(Path(folder))
    if isinstance(calibration, str | os.PathLike):
        calibration = load_calibration(calibration)
    if calibration and calibration.pooler_id != store.card.pooler_id:
        raise InputError(
            f"{folder}: has vectors of {store.card.pooler_id}; the calibration is of {calibration.pooler_id}"
        )
    return Index(store, own_calibration=calibration)


def _functions_called(module: Module, name: str | None) -> list[int]:
    module.check_functions()
    if name is None:
        return list(range(module.num_functions))
    shown = {number: source_name(mangled) for number, mangled in enumerate(module.function_names)}
    same = [number for number, full in shown.items() if name in (full, module.function_names[number])]
    found = same or [number for number, full in shown.items() if full.partition("(")[0] == name]
    if not found:
        has = f"{some_names(module)}{MAY_BE_INLINED}"
        raise UnknownNameError(f"{module.name}: has no function {name!r}; it has {has}")
    return found


def dataframe(rows: Any) -> "pandas.DataFrame":
    """A pandas table.

    Raises:
        NccError: Pandas is not installed.
    """
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise NccError(
            "a data frame needs pandas: in ncc's checkout, pip install -c constraints.txt '.[viz]'"
        ) from error
    return pandas.DataFrame(rows)
