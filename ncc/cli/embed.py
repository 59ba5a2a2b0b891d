"""``ncc embed``: vectors of modules, functions or statements."""

import functools
import os
import shutil
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ncc.cli.options import (
    EmbeddingFolder,
    EncoderFolder,
    InputJobs,
    Inputs,
    Json,
    PoolingName,
    Scheduler,
    takes_compile_options,
)
from ncc.cli.running import Input, Warned, loaded, run_over
from ncc.errors import InputError, NccError
from ncc.system.files.text import demangle
from ncc.system.files.writing import check_writable

if TYPE_CHECKING:
    import pyarrow
    from numpy.typing import NDArray

    from ncc.ir.inputs import Input as FoundInput
    from ncc.system.files.reading import InputFile
    from ncc.system.workers.shards import FileVectors


@dataclass(frozen=True, eq=False)
class _Answer:
    """All that is told of an input, as a worker sends it."""

    name: str
    fields: dict[str, Any]
    text: str
    labels: tuple[str, ...]
    places: dict[str, list[Any]]
    vectors: "NDArray[Any]"


@takes_compile_options()
def embed(
    inputs: Inputs,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write .npz, .json, .csv or .parquet.")
    ] = None,
    level: Annotated[
        Literal["module", "function", "statement"], typer.Option(help="What to give a vector.")
    ] = "module",
    pooling: PoolingName = None,
    embedding: EmbeddingFolder = None,
    encoder: EncoderFolder = None,
    jobs: InputJobs = 1,
    scheduler: Scheduler = None,
    as_json: Json = False,
    *,
    options: Any,
) -> None:
    """Turn code into vectors; with -o FILE.parquet and --jobs or --scheduler, run again to resume after a stop.

    ncc embed src --level function --jobs 8 -o functions.parquet
    """
    import numpy as np

    from ncc.learning.encoder.pooling import load_pooler
    from ncc.system.files.tables import FORMATS, VectorFile, write_vectors

    if output and output.suffix not in FORMATS:
        raise InputError(f"{output}: extension {output.suffix!r} is not one of {' '.join(FORMATS)}")
    check_writable(output)
    is_special = output is not None and output.exists() and not output.is_file()  # a pipe or a device stays one
    table = output if output and output.suffix == ".parquet" and not is_special else None
    if scheduler and not table:
        raise InputError("--scheduler goes with -o FILE.parquet")
    gathered: list[_Answer] = []  # vectors alone: a folder's modules would not fit in memory
    name = loaded(load_pooler, pooling, embedding, encoder).name  # what is wrong with it is said once
    pooled = None if level == "statement" else name

    def tell(answer: _Answer) -> tuple[dict[str, Any], str]:
        if rows:
            rows.add(_columns(answer), answer.vectors)
        elif output:
            gathered.append(answer)
        vectors = {level: answer.vectors.tolist() if as_json else []}
        text = answer.text
        if not output and level != "statement":
            shown = zip(answer.labels, answer.vectors, strict=True)
            text += "".join(f"\n  {demangle(label)}\t{_abridged(vector)}" for label, vector in shown)
        fields = {"vectors": vectors, "labels": list(answer.labels) if as_json else []}
        if as_json and level == "function":
            fields["demangled"] = list(map(demangle, answer.labels))
        return answer.fields | fields | (answer.places if as_json else {}), text

    def finish() -> None:
        if rows:
            rows.finish()
            shutil.rmtree(_parts_folder(output), ignore_errors=True)
        elif output and gathered:
            names = [answer.name for answer in gathered for _ in answer.labels]
            labels = [label for answer in gathered for label in answer.labels]
            places = {
                name: [place for answer in gathered for place in answer.places[name]] for name in gathered[0].places
            }
            vectors = np.concatenate([answer.vectors for answer in gathered])
            write_vectors(output, names, labels, vectors, places, pooling=pooled)

    work = functools.partial(
        _embed, level=level, pooling=pooling, embedding=embedding, encoder=encoder, options=options
    )
    with VectorFile(table, pooling=pooled) if table else nullcontext() as rows:
        run_over(
            inputs,
            work,
            tell,
            as_json=as_json,
            fields=("vectors", "dim", "pooling"),
            finish=finish if output else None,
            results_of=functools.partial(
                _in_parts,
                work=work,
                output=table,
                plan=(level, loaded(load_pooler, pooling, embedding, encoder).id),
                jobs=jobs,
                scheduler=scheduler,
            )
            if table and (jobs > 1 or scheduler)
            else None,
            jobs=jobs,
            compile_s=options.timeout_s,
        )


def _columns(answer: _Answer) -> dict[str, list[Any]]:
    return {"input": [answer.name] * len(answer.labels), "label": list(answer.labels), **answer.places}


def _parts_folder(output: Path | None) -> Path:
    return Path(f"{output}.parts")


def _rows(file: "InputFile", *, work: "Callable[[InputFile], _Answer]") -> "FileVectors":
    """What a batch keeps of an answer."""
    from ncc.system.workers.shards import FileVectors

    answer = work(file)
    return FileVectors(_columns(answer), answer.vectors, {"fields": answer.fields, "text": answer.text})


def _in_parts(
    inputs: "Sequence[FoundInput]",
    *,
    work: functools.partial[_Answer],
    output: Path,
    plan: object,
    jobs: int,
    scheduler: str | None,
) -> "Generator[Callable[[], Warned]]":
    """The answers about files by batches on disk, which a later run goes on from."""
    from ncc.system.files.reading import InputFile
    from ncc.system.workers.pool import cluster_executor
    from ncc.system.workers.shards import in_shards
    from ncc.tasks.search.build import fingerprint_of

    folder = _parts_folder(output).absolute()
    options = work.keywords["options"]
    found = [item.source for item in inputs if isinstance(item.source, InputFile) and not item.error]
    # workers of a cluster may stand in another folder
    files = [InputFile(os.path.abspath(one.path), one.folder and os.path.abspath(one.folder)) for one in found]  # noqa: PTH100
    prints = [fingerprint_of(file, options) for file in files]
    with cluster_executor(scheduler) as executor:
        parts = in_shards(
            files,
            functools.partial(_rows, work=work),
            folder,
            jobs=jobs,
            executor=executor,
            plan=(plan, prints),
            seconds=options.timeout_s,
        )
        with closing(parts):
            answers = (one for part in parts for one in part.by_file())
            for item in inputs:
                if item.error or not isinstance(item.source, InputFile):
                    yield functools.partial(_refuse, item.error or f"{item.name}: can't be read by workers")
                else:
                    yield functools.partial(_answer, item.name, *next(answers))


def _refuse(reason: str) -> Warned:
    raise NccError(reason)


def _answer(name: str, file: "InputFile", about: dict[str, Any], rows: "pyarrow.Table | None") -> Warned:
    """An answer from what a batch kept, with the file's name as the user gave it."""
    if about["error"] or rows is None:
        raise NccError(str(about["error"]).replace(file.path, name))
    from ncc.system.files.tables import vectors_of

    columns = rows.drop_columns(["input", "vector"]).to_pydict()
    labels = tuple(name if label == file.path else label for label in columns.pop("label"))
    text, told = (about.get(what, "").replace(file.path, name) for what in ("text", "warning"))
    return _Answer(name, about["fields"], text, labels, columns, vectors_of(rows)), {"warning": told} if told else {}


def _embed(
    name: Input, *, level: Any, pooling: str | None, embedding: Path | None, encoder: Path | None, options: Any
) -> _Answer:
    from ncc import api
    from ncc.learning.encoder.pooling import load_pooler

    result = api.embed(name, options=options, pooling=loaded(load_pooler, pooling, embedding, encoder))
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


def _abridged(vector: "NDArray[Any]") -> str:
    return " ".join(f"{number:+.4f}" for number in vector[:6]) + " …"
