"""`EmbeddedModule`: vectors of a module, its functions and its statements."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from ncc.arrays import Floats32
from ncc.errors import InputError
from ncc.ir.reader.module import Module
from ncc.learning.embedding.embedding import Embedding, Lookup
from ncc.learning.encoder.pooling import Pooler
from ncc.system.files.summaries import Summarized, Summary
from ncc.system.files.text import demangle, pluralize
from ncc.verbs.types import Level

if TYPE_CHECKING:
    import pandas

_NUMBERS = 6
"""Of a vector that is shown."""
_MAX_NAME = 40
"""Columns that names of functions are aligned in; longer ones run over."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EmbeddedModule(Summarized):
    """Vectors of a module.

    Attributes:
        module: The module that was read.
        pooler: Makes vectors of functions and of the module.
        lookup: The word of each statement, and its level of back-off.
    """

    module: Module
    pooler: Pooler
    lookup: Lookup

    def __repr__(self) -> str:
        counts = f"{self.num_statements} statements in {self.module.num_functions} functions"
        pooled = f"dim={self.dim} by {self.pooling}"
        return f"EmbeddedModule({self.module.name!r}: {counts}, {pooled}, {self.unknown_rate:.1%} unknown)"

    def summary(self, level: Level = "function") -> Summary:
        """Return the number of vectors, and the first numbers of each function's or of the module's."""
        vectors = self.vectors_at(level)
        is_pooled = level != "statement"
        names = ["vector"] if level == "module" else [demangle(name) for name in self.labels(level) if is_pooled]
        width = min(max(map(len, names), default=0), _MAX_NAME) + 1
        details = [
            (name.ljust(width), ["".join(f"{number:9.4f}" for number in vector[:_NUMBERS]) + "  ..."])
            for name, vector in zip(names, vectors, strict=is_pooled)
        ]
        return Summary(
            verdict=pluralize(len(vectors), "vector"),
            interval=f"{vectors.shape[1]}-d" + (f", {self.pooling}" if is_pooled else ""),
            confidence=f"{self.unknown_rate:.1%} unknown",
            subject=pluralize(self.num_statements, "statement"),
            details=details,
        )

    @property
    def num_statements(self) -> int:
        """Number of statements, ``define`` headers included."""
        return self.module.num_statements

    @property
    def embedding(self) -> Embedding:
        """Embedding that the statements were looked up in."""
        return self.pooler.embedding

    @property
    def pooling(self) -> str:
        """Name of the pooling of functions and of the module."""
        return self.pooler.name

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors of functions and of the module."""
        return self.pooler.dim

    @property
    def unknown_rate(self) -> float:
        """Fraction of statements that are not in the vocabulary and were backed off."""
        return self.lookup.unknown_rate

    @property
    def backoff(self) -> dict[str, int]:
        """Number of statements by level of back-off."""
        return self.lookup.count_by_level()

    @property
    def statements(self) -> Floats32:
        """(num_statements, dim) float32 vectors of length 1."""
        return self.embedding.vectors[self.lookup.word]

    @cached_property
    def functions(self) -> Floats32:
        """(num_functions, dim) float32 vectors."""
        return self.pooler.vectors(self.module, range(self.module.num_functions), lookup=self.lookup)

    @cached_property
    def vector(self) -> Floats32:
        """(dim,) float32 vector of the module."""
        return self.pooler.vectors(self.module, lookup=self.lookup)[0]

    def vectors_at(self, level: Level) -> Floats32:
        """Return (n, dim) float32 vectors of a level; one row for "module".

        Raises:
            InputError: The level is unknown.
        """
        if level not in get_args(Level):
            raise InputError(f"level is {level!r}; expected one of {', '.join(get_args(Level))}")
        if level == "module":
            return self.vector[None, :]
        return self.functions if level == "function" else self.statements

    def labels(self, level: Level) -> tuple[str, ...]:
        """Return a label per vector of a level: the module's name, functions' names, or abstracted statements."""
        if level == "module":
            return (self.module.name,)
        if level == "function":
            return self.module.function_names
        return tuple(self.module.statement_text(i) for i in range(self.num_statements))

    def to_dict(self, level: Level = "module") -> dict[str, Any]:
        """Return vectors of a level and what is known of them as plain Python values, as ``--json`` prints them."""
        _, labels, *places = self.columns(level).items()
        vectors = self.vectors_at(level)
        fields: dict[str, Any] = {
            "num_statements": self.num_statements,
            "unknown_rate": self.unknown_rate,
            "backoff": self.backoff,
            "dim": vectors.shape[1],
            "level": level,
            "pooling": None if level == "statement" else self.pooling,
            "vectors": {level: vectors.tolist()},
            "labels": labels[1],
        }
        return fields | dict(places) | ({"demangled": list(map(demangle, labels[1]))} if level == "function" else {})

    def columns(self, level: Level) -> dict[str, list[Any]]:
        """Columns of a table with one row per vector of a level: ``input`` and ``label``.

        Statements also have the ``function``, the ``index`` in it from 0, and the ``line`` of the source, 0 if unknown.
        """
        labels = list(self.labels(level))
        columns: dict[str, list[Any]] = {"input": [self.module.name] * len(labels), "label": labels}
        if level == "statement":
            function = self.module.statement_function
            index = np.arange(self.num_statements) - self.module.function_start[function]
            columns["function"] = [self.module.function_names[i] for i in function.tolist()]
            columns |= {"index": index.tolist(), "line": self.module.source_line.tolist()}
        return columns

    def to_dataframe(self, level: Level = "function") -> "pandas.DataFrame":
        """Return a pandas table with one row per vector, columns 0 to dim - 1, indexed by `labels`.

        Statements are indexed by function, index in it, source line (0 if unknown) and text.

        Raises:
            NccError: Pandas is not installed.
        """
        from ncc.system.files.tables import data_frame

        _, labels, *places = self.columns(level).values()
        names = ["function", "index", "line", "statement"] if places else level
        return data_frame(self.vectors_at(level), [*places, labels] if places else labels).rename_axis(index=names)
