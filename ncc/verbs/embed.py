"""Vectors and graphs: ``ncc embed`` and ``ncc graph``, their functions, and what else vectors are for."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ncc.errors import InputError, NccError, check_positive
from ncc.ir.frontend.options import CompileOptions
from ncc.verbs.types import (
    Compiling,
    Each,
    EmbeddingLike,
    EncoderLike,
    Inputs,
    Jobs,
    Json,
    Language,
    Level,
    OutputFile,
    PoolingLike,
    Source,
    Words,
    command,
    load_once,
)

if TYPE_CHECKING:
    from ncc.arrays import Floats32
    from ncc.ir.graph.xfg import XFG
    from ncc.ir.reader.module import Module
    from ncc.learning.embedding.embedding import Lookup
    from ncc.learning.encoder.pooling import Pooler
    from ncc.verbs.vectors import EmbeddedModule


def embed(
    source: Source,
    *,
    options: Compiling | None = None,
    language: Language | None = None,
    embedding: EmbeddingLike | None = None,
    encoder: EncoderLike | None = None,
    pooling: PoolingLike | None = None,
) -> "EmbeddedModule":
    """Embed a file or text.

    Args:
        source: A path (.ll, .bc, .c, .cpp, .cl, .cu, …), "-" for standard input, or the code itself as text or bytes:
            IR, or source if ``language`` is set.
        options: Compiler options; default: `ncc.CompileOptions()`.
        language: Source language: c, c++, opencl or cuda; default: from the file extension.
        embedding: Statement embedding, or its folder; default: the shipped one.
        encoder: Encoder for encoder pooling, or its folder; default: the shipped one.
        pooling: How to compute vectors of functions and modules: "encoder" (from code patterns) or "mean" (of the
            statement vectors); default: encoder, or mean if only an embedding is passed.

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


def embed_many(
    sources: Iterable[Source] | Source,
    *,
    jobs: int = 1,
    options: CompileOptions | None = None,
    language: str | None = None,
    embedding: EmbeddingLike | None = None,
    encoder: EncoderLike | None = None,
    pooling: PoolingLike | None = None,
    timeout: float = 300.0,
) -> "Iterator[EmbeddedModule | NccError]":
    r"""Embed many files or texts and yield results in the same order.

    Args:
        sources: Sources, each as in `embed`, read lazily; a single source is accepted too.
        jobs: Number of worker processes; an input that crashes, hangs or runs out of memory fails alone. One job runs
            in this process.
        options: As in `embed`.
        language: As in `embed`, for all sources.
        embedding: As in `embed`.
        encoder: As in `embed`.
        pooling: As in `embed`.
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

    options = CompileOptions.of(options, language)
    check_positive(jobs=jobs, timeout=timeout)
    pooler = load_pooler(pooling, embedding, encoder)
    results = Pool(jobs, seconds=timeout).in_order(
        [sources] if isinstance(sources, str | bytes | os.PathLike) else sources,
        partial(_read, options=options, embedding=embedding, encoder=encoder, pooling=pooling),
        name_of=lambda source: "<text>" if _is_text(source) else os.fsdecode(source),
        runs_inline=lambda source: not isinstance(source, bytes) and not _is_text(source) and is_own_stream(source),
    )
    return (_result(call, pooler) for call in results)


def _result(call: "Callable[[], tuple[Module, Lookup]]", pooler: "Pooler") -> "EmbeddedModule | NccError":
    from ncc.verbs.vectors import EmbeddedModule

    try:
        module, lookup = call()
    except NccError as error:
        return error
    return EmbeddedModule(module=module, pooler=pooler, lookup=lookup)


def _read(source: Source, **options: Any) -> "tuple[Module, Lookup]":
    """Result to send from a worker, without vectors, which the parent has."""
    result = embed(source, **options)
    return result.module, result.lookup


def _is_text(source: Source) -> bool:
    return isinstance(source, bytes) or (isinstance(source, str) and "\n" in source)


def similarity(
    a: "Source | EmbeddedModule | Floats32",
    b: "Source | EmbeddedModule | Floats32",
    *,
    options: CompileOptions | None = None,
    language: str | None = None,
    embedding: EmbeddingLike | None = None,
    encoder: EncoderLike | None = None,
    pooling: PoolingLike | None = None,
) -> float:
    r"""Return the similarity of two programs: the cosine of their vectors, from -1 to 1.

    Args:
        a: A path or text as in `embed`, a result of `embed`, or a (dim,) vector.
        b: Second program, as ``a``.
        options: As in `embed`.
        language: As in `embed`.
        embedding: As in `embed`.
        encoder: As in `embed`.
        pooling: As in `embed`.

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

    modules = [program for program in (a, b) if isinstance(program, EmbeddedModule)]
    ids = [module.pooler.id for module in modules]
    if len(set(ids)) > 1:
        raise InputError(f"vectors of {ids[0]} can't be compared with vectors of {ids[1]}")
    pooler = modules[0].pooler if modules else load_pooler(pooling, embedding, encoder)
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
        path: Output file; its extension sets the format: .npz (``input``, ``label`` and ``vectors``), .json, .csv or
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


_POOLER = ("pooling", "embedding", "encoder")


@command(embed)
def embed_command(  # noqa: D417 - shared options have a text of their own
    inputs: Inputs,
    *,
    output: OutputFile | None = None,
    level: Level = "module",
    jobs: Jobs = 1,
    as_json: Json = False,
    **options: Any,
) -> Each:
    """Turn code into vectors.

    Example: ncc embed src --level function --jobs 8 -o functions.parquet

    Args:
        output: Write .npz, .json, .csv or .parquet.
        level: One vector per module, function or statement.
    """
    from ncc.learning.encoder.pooling import load_pooler

    pooler = load_once(load_pooler, *(options[name] for name in _POOLER))  # what is wrong with it is said once
    sink = None
    if output:
        from ncc.system.files.tables import VectorFile

        sink = VectorFile(output, pooling=None if level == "statement" else pooler.name)
    return Each(
        inputs=inputs,
        work=partial(_embed, level=level, as_json=as_json, has_sink=bool(output), **options),
        as_json=as_json,
        fields=("vectors", "dim", "pooling"),
        jobs=jobs,
        compile_s=options["options"].timeout_s,
        sink=sink,
    )


def _embed(
    name: Any,
    *,
    level: Level,
    as_json: bool,
    has_sink: bool,
    options: CompileOptions,
    language: str | None,
    **pooler: Any,
) -> tuple[Any, ...]:
    from ncc.learning.encoder.pooling import load_pooler
    from ncc.system.files.text import demangle

    pooling = load_once(load_pooler, *(pooler[key] for key in _POOLER))
    result = embed(name, options=options, language=language, pooling=pooling)
    vectors, columns = result.vectors_at(level), result.columns(level)
    fields: dict[str, Any] = {
        "num_statements": result.num_statements,
        "unknown_rate": result.unknown_rate,
        "backoff": result.backoff,
        "dim": vectors.shape[1],
        "level": level,
        "pooling": None if level == "statement" else result.pooling,
    }
    labels = result.labels(level)
    if as_json:
        _, _, *places = columns
        fields |= {"vectors": {level: vectors.tolist()}, "labels": list(labels)}
        fields |= {place: columns[place] for place in places}
        if level == "function":
            fields["demangled"] = list(map(demangle, labels))
    summary = result.summary(level)
    return (fields, [replace(summary, details=())], columns, vectors) if has_sink else (fields, [summary])


def build_graph(source: Source, *, options: Compiling | None = None, language: Language | None = None) -> "XFG":
    """Build the contextual flow graph of a file or text; see `ncc.build_xfg`.

    Args:
        source: As in `embed`.
        options: Compiler options; default: `ncc.CompileOptions()`.
        language: Source language: c, c++, opencl or cuda; default: from the file extension.

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


@command(build_graph)
def graph_command(  # noqa: D417 - shared options have a text of their own
    inputs: Inputs,
    *,
    output: OutputFile | None = None,
    function: Annotated[str, Words(metavar="NAME")] | None = None,
    as_json: Json = False,
    **options: Any,
) -> Each:
    """Build the contextual flow graph (XFG) of code.

    Args:
        output: Write .html, .svg, .graphml or .json.
        function: Function to draw (.svg) or to show first (.html), by mangled or source name.
    """
    from ncc.ir.graph.export import EXPORTERS
    from ncc.ir.inputs import find_inputs
    from ncc.system.files.writing import check_writable

    if output and output.suffix not in EXPORTERS:
        raise InputError(f"{output}: extension {output.suffix!r} is not one of {' '.join(EXPORTERS)}")
    if output and len(find_inputs(inputs)) != 1:
        raise InputError("-o takes one input; for several, use --json")
    is_drawn = output is not None and output.suffix in (".html", ".svg")
    if function is not None and not is_drawn:
        raise InputError("--function needs -o FILE.html or FILE.svg")
    check_writable(output)
    options["options"] = replace(options["options"], debug_lines=is_drawn)
    work = partial(_draw, output=output, function=function, as_json=as_json, **options)
    return Each(inputs=inputs, work=work, as_json=as_json)


def _draw(name: Any, *, output: Path | None, function: str | None, as_json: bool, **options: Any) -> Any:
    from ncc.ir.graph.export import EXPORTERS, to_dict
    from ncc.ir.graph.xfg import EdgeKind
    from ncc.learning.embedding.embedding import load_embedding
    from ncc.system.files.summaries import Summary
    from ncc.system.files.writing import write_output

    xfg = build_graph(name, **options)
    counts = {kind.name.lower(): int((xfg.kind == kind).sum()) for kind in EdgeKind}
    fields: dict[str, Any] = {
        "num_statements": xfg.module.num_statements,
        "unknown_rate": load_embedding().look_up(xfg.module.texts).expand(xfg.module.text_id).unknown_rate,
        "num_edges": xfg.num_edges,
        "edges_by_kind": counts,
    }
    if output:
        settings = {} if function is None else {"function": function}
        write_output(output, EXPORTERS[output.suffix](xfg, **settings).encode("utf-8", "backslashreplace"))
    elif as_json:
        fields["graph"] = to_dict(xfg)
    summary = Summary(
        verdict=f"{xfg.num_edges:,} edges",
        interval=f"{xfg.module.num_statements:,} statements",
        confidence=f"{fields['unknown_rate']:.1%} unknown",
        details=[("kinds", ", ".join(f"{count:,} {kind}" for kind, count in counts.items()))],
    )
    return fields, [summary]
