"""``ncc corpus build``: the counts of a corpus."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.options import SOURCES_AS_THEY_ARE, OutputFolder, Scheduler, takes_compile_options
from ncc.cli.output import print_answer, say


@takes_compile_options(without=SOURCES_AS_THEY_ARE)
def corpus_build(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE|FOLDER", help="Recipe in TOML, or a folder of code.")],
    output: OutputFolder,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes; default: one per core.")] = None,
    ir: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep the compiled IR here, and reuse what is there already.")
    ] = None,
    scheduler: Scheduler = None,
    *,
    options: Any,
) -> None:
    """Compile, read and count every file of a recipe; run again to resume after a stop."""
    from ncc import api

    report = api.build_corpus(recipe, output, jobs=jobs, ir=ir, options=options, scheduler=scheduler, progress=say)
    print_answer(report.to_text())
