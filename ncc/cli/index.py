"""``ncc index``: indexes every function of a code base for searching."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.options import (
    EmbeddingFolder,
    EncoderFolder,
    InputJobs,
    PoolingName,
    Scheduler,
    arguments_of,
    takes_compile_options,
)
from ncc.cli.output import now_and_then, print_answer, say


@takes_compile_options()
def index(
    inputs: Annotated[list[str], typer.Argument(metavar="FOLDER...", help="Folder, file or glob.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="INDEX", help="Folder of the index.")],
    pooling: PoolingName = None,
    embedding: EmbeddingFolder = None,
    encoder: EncoderFolder = None,
    jobs: InputJobs = 1,
    scheduler: Scheduler = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    *,
    options: Any,
) -> None:
    """Index every function of a code base; run again to update the index or to resume after a stop.

    ncc index src include -o code.index
    """
    given = arguments_of(locals()) | {"output": output}
    from ncc import api

    made = api.index(**given, progress=now_and_then())
    report = made.report
    assert report is not None
    for reason in report.failures.values():
        say(f"ncc: {reason.partition(chr(10))[0]}")
    figures = {**vars(report), "pooling": made.pooling, "num_bytes": made.num_bytes}
    print_answer(figures if as_json else f"{output}: {report.to_text()}, {made.pooling} vectors")
    if report.failures:
        raise typer.Exit(1)
