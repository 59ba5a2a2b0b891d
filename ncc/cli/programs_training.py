"""The command that trains a classifier of programs: train classify."""

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.labelled import Levels, ProgramFolder, ProgramsCache, load_labelled_programs
from ncc.cli.output import DataFolder, EmbeddingFolder, OutputFolder, Seed, check_folder, fail, say
from ncc.errors import NccError
from ncc.runtime.provenance import command_line
from ncc.runtime.ranks import process_group, rank_and_world

__all__ = ["register"]


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
    strategy: Annotated[
        str, typer.Option(help="How ranks share the work: mirrored, central, stale or local.")
    ] = "mirrored",
    staleness: Annotated[int, typer.Option(help="Steps that a stale gradient may be late.")] = 1,
    sync_every: Annotated[int, typer.Option(help="Steps between averages of local weights.")] = 8,
    compression: Annotated[
        str,
        typer.Option(help="How mirrored gradients are sent: none, fp16, bf16, topk, int8, int4 or powersgd."),
    ] = "none",
    accumulate: Annotated[int, typer.Option(help="Pieces that a rank's part of a batch is computed in.")] = 1,
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

    from ncc.classification.files import load_classifier_head, save_classifier_head
    from ncc.classification.networks import NetworkTraining
    from ncc.embedding import load_embedding
    from ncc.encoder.program_lstm import ProgramLSTMConfig
    from ncc.study.classification.shipping import refit_classifier, train_classifier
    from ncc.training import TrainingConfig

    if search and refit:
        fail("--search and --refit don't go together: a classifier that is trained further keeps its sizes", code=2)
    check_folder(output)
    torch.set_num_threads(1)
    checkpoint = output / "checkpoint.pt"
    try:
        loop = TrainingConfig(
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            mixed_precision=True,
            strategy=strategy,
            staleness=staleness,
            sync_every=sync_every,
            compression=compression,
            accumulate=accumulate,
            seed=seed,
        )
        with process_group(device) as own_device:
            rank, _ = rank_and_world()
            table = load_embedding(embedding)
            samples = load_labelled_programs(folder, levels, table.abstraction, data=data, cache=cache, jobs=jobs)
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
        NccError: The search failed, or there are several ranks.
    """
    from ncc.study.classification.tuning import tune_training

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


def register(group: typer.Typer) -> None:
    """Adds the command to the group of those that train."""
    group.command("classify")(train_classify)
