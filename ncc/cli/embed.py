"""``ncc embed``: vectors of modules, functions or statements."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ncc.cli.options import EmbeddingFolder, Inputs, Json, takes_compile_options
from ncc.cli.running import Input, run_over
from ncc.errors import InputError
from ncc.runtime.printable import source_name
from ncc.runtime.writable import check_writable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ncc.embedding import Embedding

__all__ = ["embed"]

_SECONDS = 300.0
"""Time for an input in a worker, beyond that of a compilation."""


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
    level: Annotated[Literal["module", "function", "statement"], typer.Option(help="What gets a vector.")] = "module",
    embedding: EmbeddingFolder = None,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Worker processes; an input that ends one costs itself.")
    ] = 1,
    as_json: Json = False,
    *,
    options: Any,
) -> None:
    """Turn code into vectors."""
    import numpy as np

    from ncc.runtime.tables import FORMATS, write_vectors

    if output and output.suffix not in FORMATS:
        raise InputError(f"{output}: extension {output.suffix!r} is none of {' '.join(FORMATS)}")
    check_writable(output)
    _table(embedding)  # what is wrong with it is said once
    gathered: list[_Answer] = []  # vectors alone: a folder's modules would not fit in memory

    def tell(answer: _Answer) -> tuple[dict[str, Any], str]:
        if output:
            gathered.append(answer)
        vectors = {level: answer.vectors.tolist() if as_json else []}
        text = answer.text
        if not output and level != "statement":
            rows = zip(answer.labels, answer.vectors, strict=True)
            text += "".join(f"\n  {source_name(label)}\t{_abridged(vector)}" for label, vector in rows)
        fields = {"vectors": vectors, "labels": list(answer.labels) if as_json else []}
        if as_json and level == "function":
            fields["demangled"] = list(map(source_name, answer.labels))
        return answer.fields | fields | (answer.places if as_json else {}), text

    def finish() -> None:
        if output and gathered:
            names = [answer.name for answer in gathered for _ in answer.labels]
            labels = [label for answer in gathered for label in answer.labels]
            places = {
                name: [place for answer in gathered for place in answer.places[name]] for name in gathered[0].places
            }
            write_vectors(output, names, labels, np.concatenate([answer.vectors for answer in gathered]), places)

    run_over(
        inputs,
        functools.partial(_embed, level=level, embedding=embedding, options=options),
        tell,
        as_json=as_json,
        fields=("vectors", "dim"),
        finish=finish if output else None,
        jobs=jobs,
        seconds=_SECONDS + options.timeout_s,
    )


@functools.lru_cache(maxsize=1)
def _table(folder: Path | None) -> "Embedding":
    from ncc import api

    return api.load_embedding(folder)


def _embed(name: Input, *, level: Any, embedding: Path | None, options: Any) -> _Answer:
    from ncc import api

    result = api.embed(name, options=options, embedding=_table(embedding))
    vectors = result.at(level)
    fields = {
        "num_statements": result.num_statements,
        "unknown_rate": result.unknown_rate,
        "backoff": result.backoff,
        "dim": result.dim,
        "level": level,
    }
    text = (
        f"{name}: {len(vectors)} {level} vector(s) of {result.dim} numbers from {result.num_statements} statements "
        f"of {result.module.num_functions} function(s), {result.unknown_rate:.1%} unknown"
    )
    return _Answer(result.module.name, fields, text, result.labels(level), result.places(level), vectors)


def _abridged(vector: "NDArray[Any]") -> str:
    return " ".join(f"{number:+.4f}" for number in vector[:6]) + " …"
