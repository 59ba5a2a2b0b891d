"""``ncc corpus build``: the counts of a corpus."""

from pathlib import Path
from typing import Annotated

import typer

from ncc.cli.options import OutputFolder
from ncc.cli.output import print_answer, say

__all__ = ["corpus_build"]


def corpus_build(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE|FOLDER", help="Recipe in TOML, or a folder of code.")],
    output: OutputFolder,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes; default one a core.")] = None,
    ir: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep the compiled IR here, and use what is here already.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler to work on instead; it must see the files.")
    ] = None,
) -> None:
    """Compile, read and count every file of a recipe; start again to go on after a stop."""
    from ncc import api

    report = api.build_corpus(recipe, output, jobs=jobs, ir=ir, scheduler=scheduler, progress=say)
    print_answer(report.to_text())
