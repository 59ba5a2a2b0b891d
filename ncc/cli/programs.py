"""Commands on programs and their classes: classify, evaluate classify."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.figures import (
    Jobs,
    NoCache,
    NumSeeds,
    ReportFile,
    ResultFile,
    RunsFolder,
    Trees,
    answer,
    check_outputs,
    now_and_then,
    runs_folder,
    told_errors,
)
from ncc.cli.labelled import Levels, ProgramFolder, ProgramsCache, labelled_files, load_labelled_programs, tell_batches
from ncc.cli.measuring import evaluation
from ncc.cli.output import (
    Clang,
    DataFolder,
    Define,
    EmbeddingFolder,
    Flag,
    Include,
    Inputs,
    Json,
    Language,
    Seed,
    Timeout,
    compile_options,
    fail,
    run_over,
    say,
)
from ncc.errors import NccError
from ncc.runtime.provenance import command_line, environment

__all__ = ["register"]

LevelsOfHead = Annotated[
    str | None,
    typer.Option(
        metavar="LEVELS",
        help="Optimisation levels to compile at, as '0,1,2', and average; default those of the classifier's training.",
    ),
]


def classify(
    inputs: Inputs,
    top: Annotated[int, typer.Option(min=1, metavar="K", help="Classes to give, the most probable first.")] = 5,
    head: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Classifier that 'ncc train classify' made; default the shipped one."),
    ] = None,
    embedding: EmbeddingFolder = None,
    as_json: Json = False,
    clang: Clang = None,
    include: Include = None,
    define: Define = None,
    flag: Flag = None,
    levels: LevelsOfHead = None,
    language: Language = None,
    timeout: Timeout = 60.0,
) -> None:
    """Say which known problem a program solves; C and C++ may lack their include lines."""
    from ncc import classification
    from ncc.classification.files import load_classifier_head
    from ncc.classification.places import level_names
    from ncc.embedding import load_embedding

    options = compile_options(clang, include, define, flag, "1", language, timeout)
    with told_errors():
        names = level_names(levels) if levels is not None else None
    try:
        loaded = load_classifier_head(head) if head else classification.load_shipped_classifier()
        table = load_embedding(embedding)
    except NccError as error:
        fail(str(error))

    def work(name: str) -> tuple[dict[str, Any], str]:
        answer = classification.classify(name, top=top, levels=names, options=options, head=loaded, embedding=table)
        classes = ", ".join(f"{share.label} ({share.probability:.1%})" for share in answer.classes)
        text = f"{name}: {classes}" if answer.fits else f"{name}: none of these; nearest {classes}"
        return answer.to_dict(), text

    fields = ["classes", "fits", "compiled", "levels", "num_statements", "unknown_rate"]
    run_over(inputs, work, as_json=as_json, fields=fields)


@evaluation.command("classify")
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
    from ncc.classification.networks import NetworkTraining
    from ncc.embedding import load_embedding
    from ncc.runtime.storage import write_atomically
    from ncc.study.classification.comparison import all_methods, compare_classifiers
    from ncc.study.report import classification_report

    runs = runs_folder(cache, no_cache)
    check_outputs(output, report)
    if clang and not head:
        fail("--clang goes with --head", code=2)
    with told_errors():
        if head:
            scores_of_head = _measure_head(head, embedding, folder, levels, clang or [], data, programs, jobs)
            answer(*scores_of_head, output, as_json)
            return
        table = load_embedding(embedding)
        samples = load_labelled_programs(folder, levels, table.abstraction, data=data, cache=programs, jobs=jobs)
        training = NetworkTraining()
        training = replace(training, loop=replace(training.loop, epochs=epochs))
        scores = compare_classifiers(
            samples,
            all_methods(table, training, trees),
            protocol=protocol,
            patterns=method or ("*",),
            per_class=per_class or (),
            seeds=range(seed, seed + seeds),
            jobs=jobs,
            cache=runs,
            progress=now_and_then(say),
        )
        if report:
            page = classification_report(scores, {"command": command_line(), **environment()})
            write_atomically(report, page.encode())
        answer(scores.to_dict(), scores.to_text(), output, as_json)


def _measure_head(
    folder: Path,
    embedding: Path | None,
    programs: Path | None,
    levels: str,
    clangs: list[str],
    data: str | None,
    cache: Path | None,
    jobs: int,
) -> tuple[dict[str, Any], str]:
    """A classifier on its test programs at some levels, by the bundled clang and others: figures, and a table."""
    from ncc.classification.files import load_classifier_head
    from ncc.classification.places import programs_cache
    from ncc.embedding import load_embedding
    from ncc.frontend import CompileOptions
    from ncc.study.classification.robustness import measure_head

    files, names = labelled_files(programs, levels, data)
    scores = measure_head(
        load_classifier_head(folder),
        load_embedding(embedding),
        files,
        [CompileOptions(optimization=level, clang=clang) for clang in (None, *clangs) for level in names],
        cache=cache or programs_cache(),
        jobs=jobs,
        progress=tell_batches(),
    )
    lines = [
        f"{'level':<7}{'compiler':<24}{'programs':>9}{'accuracy':>10}{'interval':>14}{'usual':>9}{'unknown':>9}{'fits':>8}"
    ]
    for score in scores:
        interval = "–".join(f"{100 * end:.1f}" for end in score.interval)
        lines.append(
            f"{score.level:<7}{score.clang or 'bundled':<24}{score.num_samples:>9}{score.accuracy:>10.2%}{interval:>14}"
            f"{score.usual_accuracy:>9.2%}{score.unknown_rate:>9.1%}{score.share_that_fits:>8.1%}"
        )
    mistakes = (f"{true} for {said} ({count})" for true, said, count in scores[0].confused)
    lines.append(f"most frequent mistakes in the first row: {', '.join(mistakes) or 'none'}")
    return {"variants": [score.to_dict() for score in scores]}, "\n".join(lines)


def register(app: typer.Typer) -> None:
    """Adds the command to the application; those of the groups are there once this file is imported."""
    app.command("classify")(classify)
