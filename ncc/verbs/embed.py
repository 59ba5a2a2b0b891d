"""Vectors and graphs: ``ncc embed`` and ``ncc graph``, their functions, and what else vectors are for."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncc.errors import InputError, NccError, check_positive
from ncc.ir.frontend.options import CompileOptions
from ncc.system.files.writing import check_writable, write_output
from ncc.verbs.types import Level, OutputFile, PerInput, Source, command, document

if TYPE_CHECKING:
    from ncc.arrays import Floats32
    from ncc.ir.graph.xfg import XFG
    from ncc.ir.reader.module import Module
    from ncc.learning.embedding.embedding import AnyEmbedding, Lookup
    from ncc.learning.encoder.pooling import AnyEncoder, Pooler
    from ncc.system.files.tables import VectorFile
    from ncc.verbs.vectors import EmbeddedModule


@document
def embed(
    source: Source,
    *,
    options: CompileOptions | None = None,
    language: str | None = None,
    embedding: "AnyEmbedding | None" = None,
    encoder: "AnyEncoder | None" = None,
    pooling: "str | Pooler | None" = None,
) -> "EmbeddedModule":
    """Embed a file or text.

    Args:
        source: A path (.ll, .bc, .c, .cpp, .cl, .cu, …), "-" for standard input, or the code itself as text or bytes:
            IR, or source if ``language`` is set.

    Returns:
        Vectors of statements, functions and the module (float32), and the module itself.

    Raises:
        InputError: The input is missing, empty, of an unknown type, or has no function with code, or the pooling is
            unknown.
        CompileError: The source doesn't compile.
        IRError: The IR can't be read.

    Reference: Ben-Nun et al. 2018, section 4.
    """
    from ncc.ir.inputs import load_module
    from ncc.learning.encoder.pooling import load_pooler
    from ncc.verbs.vectors import EmbeddedModule

    pooler = load_pooler(pooling, embedding, encoder)
    module = load_module(source, options=options, language=language, abstraction=pooler.abstraction)
    module.check_functions()
    lookup = pooler.embedding.look_up(module.texts).expand(module.text_id)
    return EmbeddedModule(module=module, pooler=pooler, lookup=lookup)


@document
def embed_many(
    sources: Iterable[Source] | Source,
    *,
    jobs: int = 1,
    options: CompileOptions | None = None,
    language: str | None = None,
    embedding: "AnyEmbedding | None" = None,
    encoder: "AnyEncoder | None" = None,
    pooling: "str | Pooler | None" = None,
    timeout: float = 300.0,
) -> "Iterator[EmbeddedModule | NccError]":
    r"""Embed many files or texts and yield results in the same order.

    Args:
        sources: Sources, each as in `embed`, read lazily; a single source is accepted too.
        jobs: Number of worker processes; an input that crashes, hangs or runs out of memory fails alone. One job runs
            in this process.
        timeout: Time limit per input in seconds, if it runs in a worker.

    Yields:
        For each input, the result of `embed` or the error that it raised.

    Raises:
        InputError: ``jobs`` is below 1, or the pooling is unknown.

    Examples:
        >>> import ncc
        >>> texts = ["define void @f() {\n  ret void\n}\n", "define no\n"]
        >>> [type(result).__name__ for result in ncc.embed_many(texts)]
        ['EmbeddedModule', 'IRError']
    """
    from ncc.learning.encoder.pooling import load_pooler
    from ncc.system.files.reading import is_own_stream
    from ncc.system.workers.pool import Pool
    from ncc.verbs.vectors import EmbeddedModule

    options = CompileOptions.of(options, language)
    check_positive(jobs=jobs, timeout=timeout)
    pooler = load_pooler(pooling, embedding, encoder)
    calls = Pool(jobs, seconds=timeout).in_order(
        [sources] if isinstance(sources, str | bytes | os.PathLike) else sources,
        partial(_read, options=options, embedding=embedding, encoder=encoder, pooling=pooling),
        name_of=lambda source: "<text>" if _is_text(source) else os.fsdecode(source),
        runs_inline=lambda source: not isinstance(source, bytes) and not _is_text(source) and is_own_stream(source),
    )

    def result(call: "Callable[[], tuple[Module, Lookup]]") -> "EmbeddedModule | NccError":
        try:
            module, lookup = call()
        except NccError as error:
            return error
        return EmbeddedModule(module=module, pooler=pooler, lookup=lookup)

    return map(result, calls)


def _read(source: Source, **options: Any) -> "tuple[Module, Lookup]":
    """Result to send from a worker, without vectors, which the parent has."""
    result = embed(source, **options)
    return result.module, result.lookup


def _is_text(source: Source) -> bool:
    return isinstance(source, bytes) or (isinstance(source, str) and "\n" in source)


@document
def similarity(
    a: "Source | EmbeddedModule | Floats32",
    b: "Source | EmbeddedModule | Floats32",
    *,
    options: CompileOptions | None = None,
    language: str | None = None,
    embedding: "AnyEmbedding | None" = None,
    encoder: "AnyEncoder | None" = None,
    pooling: "str | Pooler | None" = None,
) -> float:
    r"""Return the similarity of two programs: the cosine of their vectors, from -1 to 1.

    Args:
        a: A path or text as in `embed`, a result of `embed`, or a (dim,) vector.
        b: Second program, as ``a``.

    Raises:
        NccError: As in `embed`.
        InputError: The vectors come from different models, or differ in dimension.

    Examples:
        >>> import ncc
        >>> text = "define void @f() {\n  ret void\n}\n"
        >>> ncc.similarity(text, ncc.embed(text))
        1.0
    """
    import numpy as np

    from ncc.learning.encoder.pooling import load_pooler
    from ncc.verbs.vectors import EmbeddedModule

    poolers = {program.pooler.id: program.pooler for program in (a, b) if isinstance(program, EmbeddedModule)}
    if len(poolers) > 1:
        raise InputError("vectors of {} can't be compared with vectors of {}".format(*poolers))
    pooler = next(iter(poolers.values()), None) or load_pooler(pooling, embedding, encoder)
    vectors = []
    for program in (a, b):
        if isinstance(program, str | os.PathLike | bytes):
            program = embed(program, options=options, language=language, pooling=pooler)  # noqa: PLW2901
        vectors.append(program.vector if isinstance(program, EmbeddedModule) else program)
    if vectors[0].ndim != 1 or vectors[0].shape != vectors[1].shape:
        raise InputError(f"vectors have shapes {vectors[0].shape} and {vectors[1].shape}; expected equal lengths")
    x, y = (vector.astype(np.float64) for vector in vectors)
    return round(float(x @ y / max(float(np.linalg.norm(x) * np.linalg.norm(y)), 1e-300)), 12)


def save_vectors(modules: "Sequence[EmbeddedModule]", level: Level, path: str | os.PathLike[str]) -> None:
    """Write the vectors of modules to one file: a table with one row per vector, with its input and label.

    Args:
        modules: Results of `embed`.
        level: "module", "function" or "statement".
        path: Output file; its extension sets the format: .npz (``input``, ``label`` and ``vectors``), .csv or
            .parquet.

    Raises:
        InputError: The extension is unknown.
        OutputError: The file can't be written.
    """
    from ncc.system.files.tables import VectorFile

    if not modules:
        raise InputError("modules is empty; expected one or more")
    with VectorFile(Path(path), pooling=None if level == "statement" else modules[0].pooling) as file:
        for module in modules:
            file.add(module.columns(level), module.vectors_at(level))


def _open_vectors(_: int, options: Mapping[str, Any]) -> "VectorFile | None":
    from ncc.learning.encoder.pooling import load_pooler

    models = PerInput().load(options)
    pooler = load_pooler(options["pooling"], models["embedding"], models["encoder"])
    if options["output"] is None:
        return None
    from ncc.system.files.tables import VectorFile

    return VectorFile(options["output"], pooling=None if options["level"] == "statement" else pooler.name)


@command(embed, per_input=PerInput(fields="vectors dim pooling", kernels=False, prepare=_open_vectors))
def embed_command(
    result: "EmbeddedModule", *, output: OutputFile | None = None, level: Level = "module", as_json: bool = False
) -> tuple[Any, ...]:
    """Turn code into vectors.

    Example: ncc embed src --level function --jobs 8 -o functions.parquet

    Args:
        output: Write .npz, .csv or .parquet.
        level: One vector per module, function or statement.
    """
    fields, summary = result.to_dict(level) if as_json else {}, result.summary(level)
    if output:
        return fields, [replace(summary, details=())], result.columns(level), result.vectors_at(level)
    return fields, [summary]


@document
def build_graph(source: Source, *, options: CompileOptions | None = None, language: str | None = None) -> "XFG":
    """Build the contextual flow graph of a file or text; see `ncc.build_xfg`.

    Args:
        source: As in `embed`.

    Returns:
        The graph as arrays; ``to_networkx()`` converts it.

    Raises:
        InputError: The input is missing, empty or of an unknown type.
        CompileError: The source doesn't compile.
        IRError: The IR can't be read.

    Reference: Ben-Nun et al. 2018, section 3.
    """
    from ncc.ir.graph.xfg import build_xfg
    from ncc.ir.inputs import load_module
    from ncc.learning.embedding.embedding import load_embedding

    abstraction = load_embedding().abstraction
    return build_xfg(load_module(source, options=options, language=language, abstraction=abstraction))


def _check_graph(num_inputs: int, options: dict[str, Any]) -> None:
    from ncc.ir.graph.export import EXPORTERS

    output = options["output"]
    check_writable(output, extensions=EXPORTERS)
    if output and num_inputs != 1:
        raise InputError("-o takes one input; for several, use --json")
    is_drawn = output is not None and output.suffix in (".html", ".svg")
    if options["function"] is not None and not is_drawn:
        raise InputError("--function needs -o FILE.html or FILE.svg")
    options["options"] = replace(options["options"], debug_lines=is_drawn)


@command(build_graph, per_input=PerInput(kernels=False, prepare=_check_graph))
def graph_command(
    result: "XFG", *, output: OutputFile | None = None, function: str | None = None, as_json: bool = False
) -> tuple[Any, ...]:
    """Build the contextual flow graph (XFG) of code.

    Args:
        output: Write .html, .svg, .graphml or .json.
        function: Function to draw (.svg) or to show first (.html), by mangled or source name.
    """
    from ncc.ir.graph import export, xfg
    from ncc.learning.embedding.embedding import load_embedding
    from ncc.system.files.summaries import Summary
    from ncc.system.files.text import pluralize

    module = result.module
    counts = {kind.name.lower(): int((result.kind == kind).sum()) for kind in xfg.EdgeKind}
    fields: dict[str, Any] = {
        "num_statements": module.num_statements,
        "unknown_rate": load_embedding().look_up(module.texts).expand(module.text_id).unknown_rate,
        "num_edges": result.num_edges,
        "edges_by_kind": counts,
    }
    if output:
        settings = {} if function is None else {"function": function}
        write_output(output, export.EXPORTERS[output.suffix](result, **settings))
    elif as_json:
        fields["graph"] = export.to_dict(result)
    summary = Summary(
        verdict=pluralize(result.num_edges, "edge"),
        interval=pluralize(module.num_statements, "statement"),
        confidence=f"{fields['unknown_rate']:.1%} unknown",
        details=[("kinds", ", ".join(f"{count:,} {kind}" for kind, count in counts.items()))],
    )
    return fields, [summary]
