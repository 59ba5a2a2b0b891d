"""What ``ncc bench scaling`` does, as a function."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ncc.study.scaling import ScalingSweep

__all__ = ["bench_scaling"]


def bench_scaling(
    folder: str | Path | None = None,
    *,
    world: Sequence[int] = (1, 2),
    strategy: Sequence[str] = ("mirrored",),
    compression: Sequence[str] = ("none",),
    batch_size: Sequence[int] = (64,),
    hidden: Sequence[int] = (128,),
    epochs: int = 12,
    per_class: int | None = None,
    scaling: Literal["strong", "weak"] = "strong",
    threads: Sequence[int] = (1,),
    target: float | None = None,
    repeats: int = 3,
    device: str = "cpu",
    timeout: float = 3600.0,
    levels: Sequence[str] = ("1",),
    embedding: str | Path | None = None,
    programs: str | Path | None = None,
    data: str | None = None,
    seed: int = 204,
    progress: Callable[[str], None] | None = None,
) -> "ScalingSweep":
    """Measures how training a classifier of programs scales over ranks, and how large a model must be for it to pay.

    Every run has processes of its own and is in the answer, failed ones among them.

    Args:
        folder: Has a folder of programs for each class; default POJ-104.
        world: Numbers of ranks, 1 among them.
        strategy: How ranks share the work: "mirrored", "central", "stale", "local".
        compression: How mirrored ranks send: "none", "fp16", "bf16", "topk", "int8", "int4", "powersgd".
        batch_size: Programs of a step: over all ranks, or with weak scaling for each.
        hidden: Units of each direction of the LSTM: sizes of the model.
        epochs: Passes over the programs.
        per_class: Train on so many programs of a class, with weak scaling for each rank.
        scaling: "strong": programs and batch size stay; "weak": both grow with the ranks.
        threads: Numbers of threads to try for one rank; several ranks have one each.
        target: Accuracy on validation programs, the time to which is measured too.
        repeats: Runs of each setting.
        device: "cpu" or "cuda"; each rank takes a GPU of its own.
        timeout: Time limit of a run in seconds.
        levels: Optimisation levels to compile programs at.
        embedding: Folder of the embedding, which each run reads; default the one that ships with ncc.
        programs: Folder where programs are kept once read; default the user's cache.
        data: Folder of datasets; default NCC_DATA, then the cache.
        seed: Of the first run of each setting.
        progress: Called with a line of text after each run.

    Returns:
        Every run and the scores of every setting: seconds, programs a second, speedups.

    Raises:
        InputError: A value is out of its range, unknown, or does not go with another; or there are too few programs.
        DataError: POJ-104 is asked for and is missing or damaged.
    """
    from ncc.study.scaling import ProgramSource, SweepConfig, run_sweep

    config = SweepConfig(
        worlds=tuple(world),
        strategies=tuple(strategy),
        compressions=tuple(compression),
        batch_sizes=tuple(batch_size),
        hidden=tuple(hidden),
        epochs=epochs,
        per_class=per_class,
        scaling=scaling,
        threads=tuple(threads),
        target=target,
        repeats=repeats,
        device=device,
        seed=seed,
        timeout_s=timeout,
    )
    paths = [None if path is None else Path(path) for path in (folder, programs, embedding)]
    source = ProgramSource.find(paths[0], ",".join(levels), cache=paths[1], embedding=paths[2], data=data)
    return run_sweep(config, source, progress=progress)
