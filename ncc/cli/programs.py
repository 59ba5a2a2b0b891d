"""Commands on programs and their classes: classify, train classify, evaluate classify."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
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
from ncc.cli.making import training
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
    OutputFolder,
    Seed,
    Timeout,
    compile_options,
    fail,
    run_over,
    say,
)
from ncc.errors import NccError
from ncc.provenance import command_line, environment
from ncc.ranks import process_group, rank_and_world

__all__ = ["register"]

ProgramFolder = Annotated[
    Path | None, typer.Argument(metavar="FOLDER", help="A folder of programs for each class; default POJ-104.")
]
Levels = Annotated[str, typer.Option(metavar="LEVELS", help="Optimisation levels to compile programs at, as '0,1,2'.")]
LevelsOfHead = Annotated[
    str | None,
    typer.Option(
        metavar="LEVELS",
        help="Optimisation levels to compile at, as '0,1,2', and average; default those of the classifier's training.",
    ),
]
ProgramsCache = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Where programs are kept once read; default the user's cache.")
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
    from ncc import predictions
    from ncc.embedding import load_embedding
    from ncc.heads import load_classifier_head

    options = compile_options(clang, include, define, flag, "1", language, timeout)
    with told_errors():
        names = _level_names(levels) if levels is not None else None
    try:
        loaded = load_classifier_head(head) if head else predictions.load_shipped_classifier()
        table = load_embedding(embedding)
    except NccError as error:
        fail(str(error))

    def work(name: str) -> tuple[dict[str, Any], str]:
        answer = predictions.classify(name, top=top, levels=names, options=options, head=loaded, embedding=table)
        classes = ", ".join(f"{share.label} ({share.probability:.1%})" for share in answer.classes)
        text = f"{name}: {classes}" if answer.fits else f"{name}: none of these; nearest {classes}"
        return answer.to_dict(), text

    fields = ["classes", "fits", "compiled", "levels", "num_statements", "unknown_rate"]
    run_over(inputs, work, as_json=as_json, fields=fields)


@training.command("classify")
def train_classify(
    output: OutputFolder,
    folder: ProgramFolder = None,
    levels: Levels = "1,2,0",
    refit: Annotated[
        Path | None,
        typer.Option(
            metavar="HEAD",
            help="Train this classifier further, on all programs; its calibration and scores are kept.",
        ),
    ] = None,
    embedding: EmbeddingFolder = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the programs.")] = 12,
    hidden: Annotated[int, typer.Option(min=1, help="Units of each direction of the LSTM.")] = 128,
    layers: Annotated[int, typer.Option(min=1, help="Bidirectional LSTM layers.")] = 1,
    min_steps: Annotated[int, typer.Option(min=1, help="Steps at least; few programs are seen more often.")] = 600,
    batch_size: Annotated[int, typer.Option(min=2, help="Programs a step, over all ranks.")] = 64,
    learning_rate: Annotated[float, typer.Option(help="Of AdamW.")] = 2e-3,
    search: Annotated[
        int, typer.Option(metavar="N", min=0, help="First try so many sets of hyper-parameters, and take the best.")
    ] = 0,
    seed: Seed = 204,
    jobs: Annotated[int, typer.Option(min=1, help="Compilers at a time.")] = 1,
    device: Annotated[str, typer.Option(help="cpu or cuda; under torchrun each rank takes a GPU of its own.")] = "cpu",
    cache: ProgramsCache = None,
    data: DataFolder = None,
) -> None:
    """Train a classifier on labelled folders of programs; start again to go on after a stop.

    Under torchrun the ranks share the work: torchrun --nproc-per-node 2 -m ncc train classify …
    """
    import torch

    from ncc.embedding import load_embedding
    from ncc.heads import load_classifier_head, save_classifier_head
    from ncc.heads.program_lstm import ProgramLSTMConfig
    from ncc.tasks.classification.networks import NetworkTraining
    from ncc.tasks.classification.shipping import refit_classifier, train_classifier
    from ncc.training import TrainingConfig

    torch.set_num_threads(1)
    checkpoint = output / "checkpoint.pt"
    try:
        loop = TrainingConfig(
            epochs=epochs, batch_size=batch_size, learning_rate=learning_rate, mixed_precision=True, seed=seed
        )
        with process_group(device) as own_device:
            rank, _ = rank_and_world()
            table = load_embedding(embedding)
            samples = _load_labelled_programs(folder, levels, table.abstraction, data=data, cache=cache, jobs=jobs)
            tuned: list[dict[str, Any]] = []
            how = NetworkTraining(
                network=ProgramLSTMConfig(hidden=hidden, layers=layers), min_steps=min_steps, loop=loop
            )
            if search:
                how, tuned = _tuned(samples, table, how, search, output / "search.journal", own_device, seed)
            make = partial(refit_classifier, measured=load_classifier_head(refit)) if refit else train_classifier
            head = make(
                samples,
                table,
                training=how,
                device=own_device,
                seed=seed,
                checkpoint=checkpoint,
                progress=(lambda epoch, loss: say(f"epoch {epoch}: {loss:.4f}")) if rank == 0 else None,
            )
            if head:
                head.about["command"] = command_line()
                if tuned:
                    head.about["search"] = tuned
                save_classifier_head(head, output)
                checkpoint.unlink(missing_ok=True)
                print(json.dumps(head.about, indent=1))
    except (NccError, ValueError) as error:
        fail(str(error))


def _tuned(
    samples: Any, embedding: Any, training: Any, num_trials: int, study: Path, device: str, seed: int
) -> tuple[Any, list[dict[str, Any]]]:
    """The best of so many trials, and all of them.

    Raises:
        NccError: the search failed, or there are several ranks.
    """
    from ncc.tasks.classification.tuning import tune_training

    if rank_and_world()[1] > 1:
        raise NccError("--search runs on one rank: search first, then train with what it found")
    return tune_training(
        samples,
        embedding,
        training,
        num_trials,
        study,
        device=device,
        seed=seed,
        progress=lambda trial: say(f"trial {trial.number}: {trial.state} {trial.value} with {trial.parameters}"),
    )


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
    from ncc.embedding import load_embedding
    from ncc.storage import write_atomically
    from ncc.tasks.classification.comparison import all_methods, compare_classifiers
    from ncc.tasks.classification.networks import NetworkTraining
    from ncc.tasks.report import classification_report

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
        samples = _load_labelled_programs(folder, levels, table.abstraction, data=data, cache=programs, jobs=jobs)
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
    from ncc.embedding import load_embedding
    from ncc.frontend import CompileOptions
    from ncc.heads import load_classifier_head
    from ncc.tasks.classification.robustness import measure_head

    files, names = _labelled_files(programs, levels, data)
    scores = measure_head(
        load_classifier_head(folder),
        load_embedding(embedding),
        files,
        [CompileOptions(optimization=level, clang=clang) for clang in (None, *clangs) for level in names],
        cache=cache or _programs_cache(),
        jobs=jobs,
        progress=_tell_batches(),
    )
    lines = [f"{'level':<7}{'compiler':<24}{'programs':>9}{'accuracy':>10}{'as usual':>10}{'unknown':>9}{'fits':>8}"]
    lines += [
        f"{score.level:<7}{score.clang or 'bundled':<24}{score.num_samples:>9}{score.accuracy:>10.2%}"
        f"{score.usual_accuracy:>10.2%}{score.unknown_rate:>9.1%}{score.share_that_fits:>8.1%}"
        for score in scores
    ]
    mistakes = (f"{true} for {said} ({count})" for true, said, count in scores[0].confused)
    lines.append(f"most frequent mistakes in the first row: {', '.join(mistakes) or 'none'}")
    return {"variants": [score.to_dict() for score in scores]}, "\n".join(lines)


def _labelled_files(folder: Path | None, levels: str, data: str | None) -> tuple[Any, list[str]]:
    """The files of a folder of classes, POJ-104's by default, and the names of optimisation levels.

    Raises:
        NccError: there are none, or a level is unknown.
    """
    from ncc.data import extracted
    from ncc.tasks.classification.samples import find_labelled_files

    names = _level_names(levels)
    place = folder or extracted("poj104", "poj104.tar.xz", data) / "poj104"
    return find_labelled_files(place), names


def _level_names(levels: str) -> list[str]:
    """From "1,2" to "-O1" and "-O2".

    Raises:
        InputError: there is no such level.
    """
    from ncc.frontend import CompileOptions

    names = [CompileOptions(optimization=level.strip()).optimization for level in levels.split(",")]
    return list(dict.fromkeys(names))


def _programs_cache() -> Path:
    """Where programs are kept once compiled and read."""
    from ncc.data import cache_folder

    return cache_folder() / "programs"


def _tell_batches() -> Callable[[int, int], None]:
    """Says now and then how far reading programs has come."""
    tell = now_and_then(say)
    return lambda done, total: tell(f"{done} of {total} batches of programs compiled and read")


def _load_labelled_programs(
    folder: Path | None, levels: str, abstraction: Any, *, data: str | None, cache: Path | None, jobs: int
) -> Any:
    """The programs of `_labelled_files`, compiled at some levels and read for an embedding.

    Raises:
        NccError: there are none, or the compiler or the cache fails.
    """
    from ncc.tasks.classification.samples import load_programs

    files, names = _labelled_files(folder, levels, data)
    samples = load_programs(
        files,
        names,
        abstraction=abstraction,
        cache=cache or _programs_cache(),
        jobs=jobs,
        progress=_tell_batches(),
    )
    if rank_and_world()[0] == 0:
        say(f"{len(samples)} programs of {len(samples.classes)} classes; {len(samples.failures)} left out")
    return samples


def register(app: typer.Typer) -> None:
    """Adds the command to the application; those of the groups are there once this file is imported."""
    app.command("classify")(classify)
