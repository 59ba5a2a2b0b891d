"""Vectors and graphs: ``ncc embed`` and ``ncc graph``, their functions, and what else vectors are for."""

import os
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ncc.errors import InputError, NccError, check_positive
from ncc.ir.frontend.options import CompileOptions
from ncc.verbs.types import (
    Address,
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
    import pyarrow
    from numpy.typing import NDArray

    from ncc.arrays import Floats32
    from ncc.ir.graph.xfg import XFG
    from ncc.ir.inputs import Input
    from ncc.ir.reader.module import Module
    from ncc.learning.embedding.embedding import Lookup
    from ncc.learning.encoder.pooling import Pooler
    from ncc.system.files.reading import InputFile
    from ncc.system.workers.shards import FileVectors
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
    """Embed a file or a text.

    Args:
        source: A path (.ll, .bc, .c, .cpp, .cl, .cu, …), "-" for standard input, or text or bytes: of IR, or of source
            if its language is named.
        options: How source is compiled; default `ncc.CompileOptions` as it is.
        language: Language of source: c, c++, opencl or cuda; default by the file's extension.
        embedding: Vectors of statements, or their folder; default the shipped ones.
        encoder: Encoder for pooling by the encoder, or its folder; default the shipped one.
        pooling: How vectors of functions and of the module are made: by the "encoder", from patterns of the code, or as
            the "mean" of the statements' vectors. Default the encoder, and the mean if an embedding alone is given.

    Returns:
        Vectors of statements, functions and the module, float32, and what was read.

    Raises:
        InputError: The input is missing, empty, of an unknown kind, or has no function with code; or there is no such
            way of pooling.
        CompileError: The compiler refuses the source.
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
    r"""Embed many files or texts, and yield results in their order.

    Args:
        sources: Each as for `embed`, taken as they are needed; one alone is taken as it is.
        jobs: Worker processes; if an input crashes, hangs or fills its worker, only that input fails. One job runs in
            this process.
        options: As for `embed`.
        language: As for `embed`, of all sources.
        embedding: As for `embed`.
        encoder: As for `embed`.
        pooling: As for `embed`.
        timeout: Seconds for an input in a worker.

    Yields:
        For each input what `embed` returns, or the error that it raises.

    Raises:
        InputError: There are no jobs, or there is no such way of pooling.

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
    return _results(results, pooler)


def _results(
    results: "Generator[Callable[[], tuple[Module, Lookup]]]", pooler: "Pooler"
) -> "Iterator[EmbeddedModule | NccError]":
    from ncc.verbs.vectors import EmbeddedModule

    with closing(results):
        for result in results:
            try:
                module, lookup = result()
            except NccError as error:
                yield error
            else:
                yield EmbeddedModule(module=module, pooler=pooler, lookup=lookup)


def _read(source: Source, **options: Any) -> "tuple[Module, Lookup]":
    """What a worker sends: the vectors are here already."""
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
    r"""Return how similar two programs are: the cosine of their vectors, from -1 to 1.

    Args:
        a: A path or a text, as for `embed`; what that returned; or a (dim,) vector.
        b: Second program, as ``a``.
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
    import numpy as np

    from ncc.learning.encoder.pooling import load_pooler
    from ncc.verbs.vectors import EmbeddedModule

    modules = [program for program in (a, b) if isinstance(program, EmbeddedModule)]
    ids = [module.pooler.id for module in modules]
    if len(set(ids)) > 1:
        raise InputError(f"vectors of pooling {ids[0]} can't be compared with those of {ids[1]}")
    pooler = modules[0].pooler if modules else load_pooler(pooling, embedding, encoder)
    vectors = []
    for program in (a, b):
        if isinstance(program, str | os.PathLike | bytes):
            program = embed(program, options=options, language=language, pooling=pooler)  # noqa: PLW2901
        vectors.append(program.vector if isinstance(program, EmbeddedModule) else program)
    if vectors[0].ndim != 1 or vectors[0].shape != vectors[1].shape:
        raise InputError(f"vectors of shapes {vectors[0].shape} and {vectors[1].shape}; expected two of one length")
    x, y = (vector.astype(np.float64) for vector in vectors)
    return round(float(x @ y / max(float(np.linalg.norm(x) * np.linalg.norm(y)), 1e-300)), 12)


def save_vectors(modules: "Sequence[EmbeddedModule]", level: Level, path: str | os.PathLike[str]) -> None:
    """Write vectors of modules to one file, as a table with one row per vector: input, label and the numbers.

    Args:
        modules: From `embed`.
        level: "module", "function" or "statement": what has a vector.
        path: The extension says the format: .npz (``input``, ``label`` and ``vectors``), .json, .csv or .parquet.

    Raises:
        InputError: The extension is none of these.
        OutputError: The file can't be written.
    """
    if not modules:
        raise InputError("modules is empty; expected one or more")
    _write(
        Path(path),
        [(module.module.name, module.labels(level), module.places(level), module.at(level)) for module in modules],
        None if level == "statement" else modules[0].pooling,
    )


def _write(
    path: Path, tables: Sequence[tuple[str, Sequence[str], dict[str, list[Any]], Any]], pooling: str | None
) -> None:
    """Write a file of vectors: input, labels, places and vectors of each part."""
    import numpy as np

    from ncc.system.files.tables import write_vectors

    inputs = [name for name, labels, _, _ in tables for _ in labels]
    labels = [label for _, labels, _, _ in tables for label in labels]
    places = {column: [value for _, _, places, _ in tables for value in places[column]] for column in tables[0][2]}
    write_vectors(path, inputs, labels, np.concatenate([vectors for *_, vectors in tables]), places, pooling=pooling)


@dataclass(frozen=True, eq=False)
class _Answer:
    """All that is told of an input, as a worker sends it."""

    name: str
    fields: dict[str, Any]
    text: str
    labels: tuple[str, ...]
    places: dict[str, list[Any]]
    vectors: "NDArray[Any]"

    @property
    def columns(self) -> dict[str, list[Any]]:
        """Columns of a table beside the vectors."""
        return {"input": [self.name] * len(self.labels), "label": list(self.labels), **self.places}


@command(embed)
def embed_command(  # noqa: D417 - shared options have a text of their own
    inputs: Inputs,
    *,
    output: OutputFile | None = None,
    level: Level = "module",
    jobs: Jobs = 1,
    scheduler: Address | None = None,
    as_json: Json = False,
    **options: Any,
) -> Each:
    """Turn code into vectors; with -o FILE.parquet and --jobs or --scheduler, run again to resume after a stop.

    ncc embed src --level function --jobs 8 -o functions.parquet

    Args:
        output: Write .npz, .json, .csv or .parquet.
        level: What to give a vector.
        jobs: Number of worker processes; a crash affects only its own input.
        scheduler: Dask scheduler to use instead; its workers must see the files.
    """
    from ncc.learning.encoder.pooling import load_pooler
    from ncc.system.files.text import demangle

    table = _checked_output(output)
    if scheduler and not table:
        raise InputError("--scheduler goes with -o FILE.parquet")
    pooler = load_once(load_pooler, *(options[name] for name in _POOLER))  # what is wrong with it is said once
    pooling = None if level == "statement" else pooler.name
    gathered: list[_Answer] = []  # vectors alone: a folder's modules would not fit in memory
    rows = None
    if table:
        from ncc.system.files.tables import VectorFile

        rows = VectorFile(table, pooling=pooling)

    def tell(answer: _Answer) -> tuple[dict[str, Any], str]:
        if rows:
            rows.add(answer.columns, answer.vectors)
        elif output:
            gathered.append(answer)
        fields = answer.fields | {"vectors": {level: []}, "labels": []}
        if as_json:
            fields |= {"vectors": {level: answer.vectors.tolist()}, "labels": list(answer.labels)} | answer.places
            if level == "function":
                fields["demangled"] = list(map(demangle, answer.labels))
        text = answer.text
        if not output and level != "statement":
            for label, vector in zip(answer.labels, answer.vectors, strict=True):
                text += f"\n  {demangle(label)}\t{' '.join(f'{number:+.4f}' for number in vector[:6])} …"
        return fields, text

    def finish() -> None:
        if rows:
            rows.finish()
            shutil.rmtree(_parts_folder(output), ignore_errors=True)
        elif output and gathered:
            _write(output, [(part.name, part.labels, part.places, part.vectors) for part in gathered], pooling)

    work = partial(_embed, level=level, **options)
    return Each(
        inputs=inputs,
        work=work,
        as_json=as_json,
        tell=tell,
        fields=("vectors", "dim", "pooling"),
        finish=finish if output else None,
        results_of=partial(_in_parts, work=work, output=table, plan=(level, pooler.id), jobs=jobs, scheduler=scheduler)
        if table and (jobs > 1 or scheduler)
        else None,
        jobs=jobs,
        compile_s=options["options"].timeout_s,
        sink=rows,
    )


def _checked_output(output: Path | None) -> Path | None:
    """Refuse a file that can't be written; return it if it is a table that grows with each input."""
    if output is None:
        return None
    from ncc.system.files.tables import FORMATS
    from ncc.system.files.writing import check_writable

    if output.suffix not in FORMATS:
        raise InputError(f"{output}: extension {output.suffix!r} is not one of {' '.join(FORMATS)}")
    check_writable(output)
    is_special = output.exists() and not output.is_file()  # a pipe or a device stays one
    return output if output.suffix == ".parquet" and not is_special else None


_POOLER = ("pooling", "embedding", "encoder")


def _embed(name: Any, *, level: Level, options: CompileOptions, language: str | None, **pooler: Any) -> _Answer:
    from ncc.learning.encoder.pooling import load_pooler

    pooling = load_once(load_pooler, *(pooler[key] for key in _POOLER))
    result = embed(name, options=options, language=language, pooling=pooling)
    vectors = result.at(level)
    fields = {
        "num_statements": result.num_statements,
        "unknown_rate": result.unknown_rate,
        "backoff": result.backoff,
        "dim": vectors.shape[1],
        "level": level,
        "pooling": None if level == "statement" else result.pooling,
    }
    text = (
        f"{name}: {len(vectors)} {level} vector(s) of {vectors.shape[1]} numbers"
        f"{'' if level == 'statement' else f' by pooling {result.pooling}'} from {result.num_statements} statements "
        f"of {result.module.num_functions} function(s), {result.unknown_rate:.1%} unknown"
    )
    return _Answer(result.module.name, fields, text, result.labels(level), result.places(level), vectors)


def _parts_folder(output: Path | None) -> Path:
    return Path(f"{output}.parts")


def _rows(file: "InputFile", *, work: "Callable[[InputFile], _Answer]") -> "FileVectors":
    """What a batch keeps of an answer."""
    from ncc.system.workers.shards import FileVectors

    answer = work(file)
    return FileVectors(answer.columns, answer.vectors, {"fields": answer.fields, "text": answer.text})


def _in_parts(
    inputs: "Sequence[Input]",
    *,
    work: partial[_Answer],
    output: Path,
    plan: object,
    jobs: int,
    scheduler: str | None,
) -> "Generator[Callable[[], tuple[_Answer, dict[str, Any]]]]":
    """The answers about files by batches on disk, which a later run goes on from."""
    from ncc.system.files.reading import InputFile
    from ncc.system.workers.pool import cluster_executor
    from ncc.system.workers.shards import in_shards
    from ncc.tasks.search.build import fingerprint_of

    folder = _parts_folder(output).absolute()
    options = CompileOptions.of(work.keywords["options"], work.keywords["language"])
    sources = [item.source for item in inputs if isinstance(item.source, InputFile) and not item.error]
    # workers of a cluster may stand in another folder
    files = [InputFile(os.path.abspath(file.path), file.folder and os.path.abspath(file.folder)) for file in sources]  # noqa: PTH100
    prints = [fingerprint_of(file, options) for file in files]
    with cluster_executor(scheduler) as executor:
        parts = in_shards(
            files,
            partial(_rows, work=work),
            folder,
            jobs=jobs,
            executor=executor,
            plan=(plan, prints),
            seconds=options.timeout_s,
        )
        with closing(parts):
            answers = (answer for part in parts for answer in part.by_file())
            for item in inputs:
                if item.error or not isinstance(item.source, InputFile):
                    yield partial(_refuse, item.error or f"{item.name}: can't be read by workers")
                else:
                    yield partial(_answer, item.name, *next(answers))


def _refuse(reason: str) -> Any:
    raise NccError(reason)


def _answer(
    name: str, file: "InputFile", about: dict[str, Any], rows: "pyarrow.Table | None"
) -> tuple[_Answer, dict[str, Any]]:
    """An answer from what a batch kept, with the file's name as the user gave it."""
    if about["error"] or rows is None:
        raise NccError(str(about["error"]).replace(file.path, name))
    from ncc.system.files.tables import vectors_of

    columns = rows.drop_columns(["input", "vector"]).to_pydict()
    labels = tuple(name if label == file.path else label for label in columns.pop("label"))
    text, told = (about.get(key, "").replace(file.path, name) for key in ("text", "warning"))
    return _Answer(name, about["fields"], text, labels, columns, vectors_of(rows)), {"warning": told} if told else {}


def build_graph(source: Source, *, options: Compiling | None = None, language: Language | None = None) -> "XFG":
    """Build the contextual flow graph of a file or a text; see `ncc.build_xfg`.

    Args:
        source: As for `embed`.
        options: How source is compiled; default `ncc.CompileOptions` as it is.
        language: Language of source: c, c++, opencl or cuda; default by the file's extension.

    Returns:
        The graph as arrays; ``to_networkx()`` makes a networkx graph of it.

    Raises:
        InputError: The input is missing, empty or of an unknown kind.
        CompileError: The compiler refuses the source.
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
        output: Write .html, .svg, .dot, .graphml or .json.
        function: Function that .svg shows, or that .html shows first; mangled or as in the source.
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
        raise InputError("--function goes with -o FILE.html or FILE.svg")
    check_writable(output)
    options["options"] = replace(options["options"], debug_lines=is_drawn)
    work = partial(_draw, output=output, function=function, as_json=as_json, **options)
    return Each(inputs=inputs, work=work, as_json=as_json)


def _draw(name: Any, *, output: Path | None, function: str | None, as_json: bool, **options: Any) -> Any:
    from ncc.ir.graph.export import EXPORTERS, to_dict
    from ncc.ir.graph.xfg import EdgeKind
    from ncc.learning.embedding.embedding import load_embedding
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
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return fields, f"{name}: {xfg.module.num_statements} statements, {xfg.num_edges} edges ({kinds})"
