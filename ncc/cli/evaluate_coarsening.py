"""``ncc evaluate coarsening``: thread coarsening under every protocol, beside its controls."""

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

__all__ = ["evaluate_coarsening"]


def evaluate_coarsening(
    protocol: Annotated[str, typer.Option(help="kernel, source, pair, device or all.")] = "all",
    method: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Methods to run, as '*line*'; default all.")
    ] = None,
    seeds: NumSeeds = 5,
    seed: Seed = 204,
    networks: Annotated[
        bool, typer.Option("--networks/--no-networks", help="Run our LSTM, DeepTune and DeepTune-TL too (hours).")
    ] = False,
    trees: Trees = 300,
    jobs: Jobs = 1,
    cache: RunsFolder = None,
    no_cache: NoCache = False,
    data: DataFolder = None,
    report: ReportFile = None,
    output: ResultFile = None,
    as_json: Json = False,
) -> None:
    """Measure thread coarsening under every protocol, controls beside published methods and ours."""
    given = arguments_of(locals())
    from ncc import api

    check_writable(output, report)
    scores = api.evaluate_coarsening(**given, progress=now_and_then())
    if report:
        api.write_report(scores, report, about=provenance(), data=data)
    print_figures(scores.to_dict(), scores.parts(), output, as_json)
