"""``ncc evaluate classify``: classifiers of programs beside their controls, or a trained one on other programs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.options import (
    DataFolder,
    EmbeddingFolder,
    Jobs,
    Json,
    Levels,
    NoCache,
    NumSeeds,
    ProgramFolder,
    ProgramsCache,
    ReportFile,
    ResultFile,
    RunsFolder,
    Seed,
    Trees,
    split_list,
)
from ncc.cli.output import now_and_then, print_figures, provenance
from ncc.errors import InputError
from ncc.runtime.writable import check_writable

__all__ = ["evaluate_classify"]


def evaluate_classify(
    folder: ProgramFolder = None,
    protocol: Annotated[str, typer.Option(help="grouped, published or all.")] = "grouped",
    method: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Methods to run, as 'ncc*'; default all.")
    ] = None,
    per_class: Annotated[
        list[int] | None, typer.Option(metavar="N", help="Train on so many programs of a class; repeat it for a curve.")
    ] = None,
    levels: Levels = "1",
    head: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Measure this classifier instead, on its test programs at other --levels."),
    ] = None,
    clang: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="With --head: measure on programs of this compiler too.")
    ] = None,
    embedding: EmbeddingFolder = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the programs, for ours.")] = 12,
    seeds: NumSeeds = 1,
    seed: Seed = 204,
    trees: Trees = 300,
    jobs: Jobs = 1,
    cache: RunsFolder = None,
    no_cache: NoCache = False,
    programs: ProgramsCache = None,
    data: DataFolder = None,
    report: ReportFile = None,
    output: ResultFile = None,
    as_json: Json = False,
) -> None:
    """Measure classifiers of programs beside their controls, on POJ-104 or on a folder of folders."""
    from ncc import api

    check_writable(output, report)
    if clang and not head:
        raise InputError("--clang goes with --head")
    where: dict[str, Any] = {"levels": split_list(levels), "programs": programs, "data": data, "jobs": jobs}
    where |= {"embedding": api.load_embedding(embedding), "progress": now_and_then()}
    if head:
        table = api.evaluate_classifier(api.load_classifier(head), folder, clang=clang, **where)
        print_figures(table.to_dict(), table.parts(), output, as_json)
        return
    scores = api.evaluate_classification(
        folder,
        protocol=protocol,
        method=method,
        per_class=per_class,
        epochs=epochs,
        seeds=seeds,
        seed=seed,
        trees=trees,
        cache=cache,
        no_cache=no_cache,
        **where,
    )
    if report:
        api.write_report(scores, report, about=provenance())
    print_figures(scores.to_dict(), scores.parts(), output, as_json)
