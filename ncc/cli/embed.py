"""``ncc embed``: vectors of modules, functions or statements."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ncc.cli.options import EmbeddingFolder, Inputs, Json, takes_compile_options
from ncc.cli.running import Input, run_over
from ncc.errors import InputError
from ncc.runtime.printable import printable
from ncc.runtime.writable import check_writable

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["embed"]


@takes_compile_options()
def embed(
    inputs: Inputs,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write .npz, .json, .csv or .parquet.")
    ] = None,
    level: Annotated[Literal["module", "function", "statement"], typer.Option(help="What gets a vector.")] = "module",
    embedding: EmbeddingFolder = None,
    as_json: Json = False,
    *,
    options: Any,
) -> None:
    """Turn code into vectors."""
    import numpy as np

    from ncc import api
    from ncc.runtime.tables import FORMATS, write_vectors

    if output and output.suffix not in FORMATS:
        raise InputError(f"{output}: extension {output.suffix!r} is none of {' '.join(FORMATS)}")
    check_writable(output)
    table = api.load_embedding(embedding)
    names: list[str] = []
    labels: list[str] = []
    gathered: list[Any] = []  # vectors alone: a folder's modules would not fit in memory

    def work(name: Input) -> tuple[dict[str, Any], str]:
        result = api.embed(name, options=options, embedding=table)
        vectors = result.at(level)
        if output:
            names.extend([result.module.name] * len(vectors))
            labels.extend(result.labels(level))
            gathered.append(vectors)
        fields = {
            "num_statements": result.num_statements,
            "unknown_rate": result.unknown_rate,
            "backoff": result.backoff,
            "dim": result.dim,
            "level": level,
            "vectors": {level: vectors.tolist() if as_json else []},
            "labels": list(result.labels(level)) if as_json else [],
        }
        text = (
            f"{name}: {len(vectors)} {level} vector(s) of {result.dim} numbers from {result.num_statements} statements "
            f"of {result.module.num_functions} function(s), {result.unknown_rate:.1%} unknown"
        )
        if not output and level != "statement":
            rows = zip(result.labels(level), vectors, strict=True)
            text += "".join(f"\n  {printable(label, lines=False)}\t{_abridged(vector)}" for label, vector in rows)
        return fields, text

    def finish() -> None:
        if output and gathered:
            write_vectors(output, names, labels, np.concatenate(gathered))

    run_over(inputs, work, as_json=as_json, fields=("vectors", "dim"), finish=finish if output else None)


def _abridged(vector: "NDArray[Any]") -> str:
    return " ".join(f"{number:+.4f}" for number in vector[:6]) + " …"
