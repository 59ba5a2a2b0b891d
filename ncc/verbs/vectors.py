"""What `ncc.embed` returns: vectors of a module, its functions and its statements."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from ncc.arrays import Floats32
from ncc.errors import InputError, NccError
from ncc.ir.reader.module import Module
from ncc.learning.embedding.backoff import BackoffLevel
from ncc.learning.embedding.embedding import Embedding, Lookup
from ncc.learning.encoder.pooling import Pooler
from ncc.system.files.pages import MAX_ROWS, html_table
from ncc.system.files.text import demangle
from ncc.verbs.types import Level

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, kw_only=True, eq=False)
class EmbeddedModule:
    """Vectors of a module.

    Attributes:
        module: What was read.
        pooler: What makes vectors of functions and of the module.
        lookup: The word that stands for each statement, and how far it had to be generalised.
    """

    module: Module
    pooler: Pooler
    lookup: Lookup

    def __repr__(self) -> str:
        counts = f"{self.num_statements} statements in {self.module.num_functions} functions"
        pooled = f"dim={self.dim} by {self.pooling}"
        return f"EmbeddedModule({self.module.name!r}: {counts}, {pooled}, {self.unknown_rate:.1%} unknown)"

    @property
    def num_statements(self) -> int:
        """Statements, ``define`` headers included."""
        return self.module.num_statements

    @property
    def embedding(self) -> Embedding:
        """What the statements were looked up in."""
        return self.pooler.embedding

    @property
    def pooling(self) -> str:
        """The way in which vectors of functions and of the module were made of those of statements."""
        return self.pooler.name

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors of functions and of the module."""
        return self.pooler.dim

    @property
    def unknown_rate(self) -> float:
        """Share of statements that are not in the vocabulary as they stand, and backed off."""
        return self.lookup.unknown_rate

    @property
    def backoff(self) -> dict[str, int]:
        """Statements found at each level of back-off, by its name."""
        return self.lookup.count_by_level()

    @property
    def statements(self) -> Floats32:
        """(num_statements, dim) float32 vectors of length 1."""
        return self.embedding.vectors[self.lookup.word]

    def _repr_html_(self) -> str:
        module = self.module
        unknown = np.add.reduceat(self.lookup.level != BackoffLevel.EXACT, module.function_start[:-1], dtype=np.int64)
        sizes = np.diff(module.function_start)
        shares = (f"{share:.1%}" for share in unknown / sizes)
        rows = zip(map(demangle, module.function_names[:MAX_ROWS]), sizes, shares, strict=False)
        return html_table(repr(self), ("function", "statements", "unknown"), rows)

    @cached_property
    def functions(self) -> Floats32:
        """(num_functions, dim) float32 vectors, by `pooling`."""
        return self.pooler.vectors(self.module, range(self.module.num_functions), lookup=self.lookup)

    @cached_property
    def vector(self) -> Floats32:
        """(dim,) float32, the module's vector, by `pooling`."""
        return self.pooler.vectors(self.module, lookup=self.lookup)[0]

    def at(self, level: Level) -> Floats32:
        """(n, dim) float32 vectors of a level; one row for "module".

        Raises:
            InputError: There is no such level.
        """
        if level not in get_args(Level):
            raise InputError(f"level is {level!r}; expected one of {', '.join(get_args(Level))}")
        if level == "module":
            return self.vector[None, :]
        return self.functions if level == "function" else self.statements

    def labels(self, level: Level) -> tuple[str, ...]:
        """What each row of a level stands for: the module's name, functions' names, abstracted statements."""
        if level == "module":
            return (self.module.name,)
        if level == "function":
            return self.module.function_names
        return tuple(self.module.statement_text(i) for i in range(self.num_statements))

    def places(self, level: Level = "statement") -> dict[str, list[Any]]:
        """Where each row of a level is, beside its label, by name: of statements, and nothing of the others.

        That is its ``function``, ``index`` in the function from 0 and ``line`` of the source, 0 where it is not known.
        """
        if level != "statement":
            return {}
        function = self.module.statement_function
        index = np.arange(self.num_statements) - self.module.function_start[function]
        names = self.module.function_names
        lines = self.module.source_line.tolist()
        return {"function": [names[i] for i in function.tolist()], "index": index.tolist(), "line": lines}

    def to_dataframe(self, level: Level = "function") -> "pandas.DataFrame":
        """A pandas table: a row a vector, columns 0 to dim - 1, indexed by `labels`.

        Statements are indexed by function, their number in it, source line (0 where it is not known) and text.

        Raises:
            NccError: Pandas is not installed.
        """
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise NccError(
                "a data frame needs pandas: in ncc's checkout, pip install -c constraints.txt '.[viz]'"
            ) from error

        if level != "statement":
            return pandas.DataFrame(self.at(level), index=pandas.Index(self.labels(level), name=level))
        places = {**self.places(), "statement": self.labels(level)}
        index = pandas.MultiIndex.from_arrays(list(places.values()), names=list(places))
        return pandas.DataFrame(self.statements, index=index)
