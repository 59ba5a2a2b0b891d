"""``ncc evaluate devmap``: device mapping under every protocol, beside its controls."""

from pathlib import Path
from typing import Annotated

import typer

from ncc.cli.options import (
    DataFolder,
    Jobs,
    Json,
    NoCache,
    NumSeeds,
    ReportFile,
    ResultFile,
    RunsFolder,
    Seed,
    Trees,
    arguments_of,
)
from ncc.cli.output import now_and_then, print_figures, provenance
from ncc.runtime.writable import check_writable

__all__ = ["evaluate_devmap"]


def evaluate_devmap(
    protocol: Annotated[str, typer.Option(help="published, kernel, application, suite or all.")] = "all",
    platform: Annotated[str, typer.Option(help="amd, nvidia or all.")] = "all",
    method: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Methods to run, as 'opcode*'; default all.")
    ] = None,
    seeds: NumSeeds = 5,
    seed: Seed = 204,
    network_seeds: Annotated[
        int, typer.Option(min=1, help="Runs of methods that train a recurrent network, a minute a fold.")
    ] = 1,
    trees: Trees = 300,
    ir2vec: Annotated[
        Path | None, typer.Option(metavar="FILE", help="IR2Vec's seed vectors; default those of our embedding.")
    ] = None,
    jobs: Jobs = 1,
    cache: RunsFolder = None,
    no_cache: NoCache = False,
    data: DataFolder = None,
    report: ReportFile = None,
    output: ResultFile = None,
    as_json: Json = False,
) -> None:
    """Measure device mapping under every protocol, controls beside published methods and ours.

    A run that was stopped goes on from the folds that were finished when the command is given again.
    """
    given = arguments_of(locals())
    from ncc import api

    check_writable(output, report)
    scores = api.evaluate_devmap(**given, progress=now_and_then())
    if report:
        api.write_report(scores, report, about=provenance(), data=data)
    print_figures(scores.to_dict(), scores.parts(), output, as_json)
