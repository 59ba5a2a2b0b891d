"""The Python API of vectors and graphs: each command's work as one function, with the command's name and defaults.

Results are frozen dataclasses of NumPy arrays. Nothing here imports torch. Predictions are in the packages of
their tasks, which embedding does not load.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ncc.arrays import Floats32
from ncc.errors import InputError, NccError
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.graph.xfg import XFG, build_xfg
from ncc.ir.inputs import load_module
from ncc.ir.reader.module import Module
from ncc.learning.embedding.backoff import BackoffLevel
from ncc.learning.embedding.embedding import AnyEmbedding, Embedding, Lookup, load_embedding
from ncc.learning.encoder.pooling import AnyEncoder, Pooler, load_pooler
from ncc.system.files.pages import MAX_ROWS, html_table
from ncc.system.files.text import demangle

if TYPE_CHECKING:
    import pandas

Source = str | os.PathLike[str] | bytes
Level = Literal["module", "function", "statement"]


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


def embed(
    source: Source,
    *,
    options: CompileOptions | None = None,
    language: str | None = None,
    embedding: AnyEmbedding | None = None,
    encoder: AnyEncoder | None = None,
    pooling: str | Pooler | None = None,
) -> EmbeddedModule:
    """Embeds a file or a text.

    Args:
        source: A path (.ll, .bc, .c, .cpp, .cl, .cu, …), "-" for standard input, or text or bytes of IR, or of source
            where its language is named.
        options: How source is compiled; default `ncc.CompileOptions` as it is.
        language: That of source: "c", "c++", "opencl" or "cuda"; default by the file's extension.
        embedding: Vectors of statements, or their folder; default those that ship with ncc.
        encoder: For pooling by the encoder, one of your own, or its folder; default the one that ships with ncc.
        pooling: How vectors of functions and of the module are made: by the "encoder", from patterns of the code; or of
            the vectors of statements, by their "mean". Default the encoder, and the mean where an embedding alone is
            given.

    Returns:
        Vectors of statements, functions and the module, float32, and what was read.

    Raises:
        InputError: The input is missing, empty, of an unknown kind, or has no function with code; or there is no such
            way of pooling.
        CompileError: The compiler refuses the source.
        IRError: The IR can't be read.

    Reference: Ben-Nun et al. 2018, section 4.
    """
    pooler = load_pooler(pooling, embedding, encoder)
    module = load_module(source, options=options, language=language, abstraction=pooler.abstraction)
    module.check_functions()
    return EmbeddedModule(
        module=module, pooler=pooler, lookup=pooler.embedding.look_up(module.texts).expand(module.text_id)
    )


def similarity(
    a: Source | EmbeddedModule | Floats32,
    b: Source | EmbeddedModule | Floats32,
    *,
    options: CompileOptions | None = None,
    language: str | None = None,
    embedding: AnyEmbedding | None = None,
    encoder: AnyEncoder | None = None,
    pooling: str | Pooler | None = None,
) -> float:
    r"""Returns how similar two programs are: the cosine of their vectors, from -1 to 1.

    Args:
        a: A path or a text, as for `embed`; what that returned; or a (dim,) vector.
        b: The same.
        options: As for `embed`.
        language: As for `embed`.
        embedding: As for `embed`.
        encoder: As for `embed`.
        pooling: As for `embed`.

    Raises:
        NccError: As from `embed`.
        InputError: The vectors were made in different ways, or have different numbers of dimensions.

    Examples:
        >>> import ncc
        >>> text = "define void @f() {\n  ret void\n}\n"
        >>> ncc.similarity(text, ncc.embed(text))
        1.0
    """
    given = [one for one in (a, b) if isinstance(one, EmbeddedModule)]
    if len({one.pooler.id for one in given}) > 1:
        raise InputError(
            f"vectors of pooling {given[0].pooler.id} can't be compared with those of {given[1].pooler.id}"
        )
    pooling = given[0].pooler if given else load_pooler(pooling, embedding, encoder)
    vectors = []
    for one in (a, b):
        if isinstance(one, np.ndarray):
            vectors.append(one)
        else:
            done = (
                one
                if isinstance(one, EmbeddedModule)
                else embed(one, options=options, language=language, pooling=pooling)
            )
            vectors.append(done.vector)
    if vectors[0].ndim != 1 or vectors[0].shape != vectors[1].shape:
        raise InputError(f"vectors of shapes {vectors[0].shape} and {vectors[1].shape}; expected two of one length")
    x, y = (vector.astype(np.float64) for vector in vectors)
    return round(float(x @ y / max(float(np.linalg.norm(x) * np.linalg.norm(y)), 1e-300)), 12)


def build_graph(source: Source, *, options: CompileOptions | None = None, language: str | None = None) -> XFG:
    """Builds the contextual flow graph of a file or a text; see `ncc.ir.graph.xfg.build_xfg`.

    Args:
        source: As for `embed`.
        options: How source is compiled; default `ncc.CompileOptions` as it is.
        language: As for `embed`.

    Returns:
        The graph as arrays; ``to_networkx()`` makes a networkx graph of it.

    Raises:
        InputError: The input is missing, empty or of an unknown kind.
        CompileError: The compiler refuses the source.
        IRError: The IR can't be read.

    Reference: Ben-Nun et al. 2018, section 3.
    """
    abstraction = load_embedding().abstraction
    return build_xfg(load_module(source, options=options, language=language, abstraction=abstraction))


def save_vectors(modules: Sequence[EmbeddedModule], level: Level, path: str | os.PathLike[str]) -> None:
    """Writes vectors of modules to one file, as a table with one row per vector: input, label and the numbers.

    Args:
        modules: From `embed`.
        level: "module", "function" or "statement": what has a vector.
        path: The extension says the format: .npz (``input``, ``label`` and ``vectors``), .json, .csv or .parquet.

    Raises:
        InputError: The extension is none of these.
        OutputError: The file can't be written.
    """
    from ncc.system.files.tables import write_vectors

    if not modules:
        raise InputError("modules is empty; expected one or more")
    inputs = [module.module.name for module in modules for _ in module.labels(level)]
    labels = [label for module in modules for label in module.labels(level)]
    found = [module.places(level) for module in modules]
    places = {name: [place for one in found for place in one[name]] for name in found[0]}
    vectors = np.concatenate([module.at(level) for module in modules])
    write_vectors(
        Path(path), inputs, labels, vectors, places, pooling=None if level == "statement" else modules[0].pooling
    )
