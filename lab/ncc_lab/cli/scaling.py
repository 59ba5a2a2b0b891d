"""``ncc bench scaling``: how training scales over ranks."""

from dataclasses import fields
from typing import Annotated

import click

from ncc.cli.printing import print_progress
from ncc.errors import InputError
from ncc.verbs.types import Words, command
from ncc_lab.cli.options import (
    DataFolder,
    EmbeddingFolder,
    Figures,
    FilesOptions,
    Levels,
    ProgramFolder,
    ProgramsCache,
    Seed,
    split_list,
)


@command()
def bench_scaling(
    folder: ProgramFolder | None = None,
    *,
    world: Annotated[str, Words(metavar="RANKS", help="Numbers of ranks, including 1, such as '1,2,4'.")] = "1,2",
    strategy: Annotated[
        str, Words(metavar="NAMES", help="mirrored, central, stale, local: how ranks share the work.")
    ] = "mirrored",
    compression: Annotated[
        str,
        Words(metavar="NAMES", help="none, fp16, bf16, topk, int8: how mirrored ranks compress gradients."),
    ] = "none",
    batch_size: Annotated[str, Words(metavar="SIZES", help="Programs per step, in all ranks together.")] = "64",
    hidden: Annotated[
        str, Words(metavar="SIZES", help="Units in each direction of the LSTM: the sizes of the model.")
    ] = "128",
    epochs: Annotated[int, Words(help="Passes over the programs.")] = 12,
    per_class: Annotated[int | None, Words(metavar="N", help="Training programs per class.")] = None,
    threads: Annotated[
        str, Words(metavar="NUMBERS", help="Threads to try for one rank; several ranks have one each.")
    ] = "1",
    target: Annotated[
        float | None,
        Words(metavar="ACCURACY", help="Also report the time to this accuracy on validation programs."),
    ] = None,
    repeats: Annotated[int, Words(help="Runs of each setting, with successive seeds from --seed.")] = 3,
    device: Annotated[str, Words(metavar="cpu|cuda", help="Device to train on; each rank uses its own GPU.")] = "cpu",
    timeout: Annotated[float, Words(metavar="SECONDS", help="Time limit of a run.")] = 3600.0,
    predict: Annotated[
        str,
        Words(
            metavar="RANKS",
            help="Predict speedups for these numbers of ranks, such as '8,64,512'; needs --world 1,2,4.",
        ),
    ] = "",
    link: Annotated[
        str, Words(metavar="nvlink|infiniband|ethernet", help="Network between the ranks of --predict.")
    ] = "infiniband",
    levels: Levels = "1",
    embedding: EmbeddingFolder | None = None,
    programs: ProgramsCache | None = None,
    data: DataFolder | None = None,
    seed: Seed = 204,
    files: FilesOptions = Figures(),
) -> None:
    """Measure how training a program classifier scales over ranks, and how large a model must be for that to pay.

    Every run has processes of its own, and is in the answer; where one failed, the exit code is 1.
    """
    given = {name: value for name, value in locals().items() if name != "files"}
    import ncc_lab
    from ncc_lab.scaling.report import sweep_text

    files.check()
    given |= {"strategy": split_list(strategy), "compression": split_list(compression), "levels": split_list(levels)}
    for name in ("world", "batch_size", "hidden", "threads", "predict"):
        try:
            given[name] = tuple(int(word) for word in split_list(given[name])) if given[name] else ()
        except ValueError as error:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is {given[name]!r}; expected whole numbers with commas between them") from error
    config = ncc_lab.SweepConfig(**{one.name: given.pop(one.name) for one in fields(ncc_lab.SweepConfig)})
    sweep = ncc_lab.bench_scaling(config, **given, progress=print_progress(0))
    files.show(sweep.to_dict(), sweep_text(sweep))
    if sweep.num_failed:
        raise click.exceptions.Exit(1)
