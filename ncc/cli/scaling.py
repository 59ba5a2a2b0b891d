"""Commands that time: bench scaling."""

import time
from typing import Annotated

import typer

from ncc.cli.figures import ReportFile, ResultFile, answer, check_outputs, told_errors
from ncc.cli.labelled import Levels, ProgramFolder, ProgramsCache
from ncc.cli.output import DataFolder, EmbeddingFolder, Json, Seed, fail, say
from ncc.errors import InputError
from ncc.runtime.provenance import command_line, environment

__all__ = ["register"]

benchmarks = typer.Typer(no_args_is_help=True, help="Time what ncc does.", rich_markup_mode=None)


@benchmarks.callback()
def _group() -> None:
    """Time what ncc does."""


@benchmarks.command("scaling")
def bench_scaling(
    folder: ProgramFolder = None,
    world: Annotated[str, typer.Option(metavar="RANKS", help="Numbers of ranks, 1 among them, as '1,2,4'.")] = "1,2",
    strategy: Annotated[
        str, typer.Option(metavar="NAMES", help="mirrored, central, stale, local: how ranks share the work.")
    ] = "mirrored",
    compression: Annotated[
        str,
        typer.Option(metavar="NAMES", help="none, fp16, bf16, topk, int8, int4, powersgd: how mirrored ranks send."),
    ] = "none",
    batch_size: Annotated[
        str, typer.Option(metavar="SIZES", help="Programs a step: over all ranks, or with weak scaling for each.")
    ] = "64",
    hidden: Annotated[
        str, typer.Option(metavar="SIZES", help="Units of each direction of the LSTM: sizes of the model.")
    ] = "128",
    epochs: Annotated[int, typer.Option(help="Passes over the programs.")] = 12,
    per_class: Annotated[
        int | None,
        typer.Option(metavar="N", help="Train on so many programs of a class, with weak scaling for each rank."),
    ] = None,
    scaling: Annotated[
        str, typer.Option(help="strong: programs and batch size stay; weak: both grow with the ranks.")
    ] = "strong",
    threads: Annotated[
        str, typer.Option(metavar="NUMBERS", help="Threads to try for one rank; several ranks have one each.")
    ] = "1",
    target: Annotated[
        float | None, typer.Option(metavar="ACCURACY", help="Also the time to this accuracy, on validation programs.")
    ] = None,
    repeats: Annotated[int, typer.Option(help="Runs of each setting, with seeds from --seed on.")] = 3,
    device: Annotated[str, typer.Option(help="cpu or cuda; each rank takes a GPU of its own.")] = "cpu",
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="Time limit of a run.")] = 3600.0,
    levels: Levels = "1",
    embedding: EmbeddingFolder = None,
    programs: ProgramsCache = None,
    data: DataFolder = None,
    seed: Seed = 204,
    report: ReportFile = None,
    output: ResultFile = None,
    as_json: Json = False,
) -> None:
    """Measure how training a classifier of programs scales over ranks, and how large a model must be for it to pay.

    Every run has processes of its own, and is in the answer; where one failed, the exit code is 1.
    """
    from ncc.runtime.storage import write_atomically
    from ncc.study.scaling import ProgramSource, SweepConfig, run_sweep
    from ncc.study.scaling.page import check_drawing, scaling_report
    from ncc.study.scaling.table import sweep_text

    check_outputs(output, report)
    with told_errors():
        if report:
            check_drawing()
        try:
            config = SweepConfig(
                worlds=_numbers("--world", world),
                strategies=_names(strategy),
                compressions=_names(compression),
                batch_sizes=_numbers("--batch-size", batch_size),
                hidden=_numbers("--hidden", hidden),
                epochs=epochs,
                per_class=per_class,
                scaling=scaling,
                threads=_numbers("--threads", threads),
                target=target,
                repeats=repeats,
                device=device,
                seed=seed,
                timeout_s=timeout,
            )
        except InputError as error:
            fail(str(error), code=2)
        source = ProgramSource.find(folder, levels, cache=programs, embedding=embedding, data=data)
        sweep = run_sweep(config, source, progress=say)
        began = time.perf_counter()
        try:
            if report:
                page = scaling_report(sweep, {"command": command_line(), **environment()})
                write_atomically(report, page.encode())
        finally:  # hours of runs are not lost to a full disk
            report_s = time.perf_counter() - began
            answer(sweep.to_dict(report_s), sweep_text(sweep, report_s), output, as_json)
    if sweep.num_failed:
        raise typer.Exit(1)


def _names(words: str) -> tuple[str, ...]:
    """From "a,b" to its parts."""
    return tuple(dict.fromkeys(word.strip() for word in words.split(",")))


def _numbers(option: str, words: str) -> tuple[int, ...]:
    """From "1,2" to numbers.

    Raises:
        InputError: One of them is none.
    """
    try:
        return tuple(int(word) for word in _names(words))
    except ValueError as error:
        raise InputError(f"{option} is {words!r}; expected whole numbers with commas between them") from error


def register(app: typer.Typer) -> None:
    """Adds the group of commands to the application."""
    app.add_typer(benchmarks, name="bench")
