"""``ncc train classify``: a classifier of labelled programs."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.options import (
    SOURCES_AS_THEY_ARE,
    DataFolder,
    EmbeddingFolder,
    Levels,
    OutputFolder,
    ProgramFolder,
    ProgramsCache,
    Seed,
    TorchDevice,
    arguments_of,
    split_list,
    takes_compile_options,
)
from ncc.cli.output import print_card, say
from ncc.system.files.provenance import command_line


@takes_compile_options(without=SOURCES_AS_THEY_ARE)
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
    batch_size: Annotated[int, typer.Option(min=2, help="Programs a step, of each rank.")] = 64,
    global_batch: Annotated[
        bool, typer.Option("--global-batch", help="Let --batch-size count the programs of all ranks, not of each.")
    ] = False,
    batch_by: Annotated[
        str,
        typer.Option(
            metavar="samples|tokens",
            help="Make batches of as many programs (samples), or of as many statements (tokens), hardly padded.",
        ),
    ] = "samples",
    learning_rate: Annotated[float, typer.Option(help="Learning rate of AdamW, with one rank.")] = 2e-3,
    lr_scaling: Annotated[
        str,
        typer.Option(
            metavar="sqrt|linear|none",
            help="How --learning-rate grows with the number of ranks and the batch size.",
        ),
    ] = "sqrt",
    strategy: Annotated[
        str, typer.Option(metavar="mirrored|central|stale|local", help="How ranks share the work.")
    ] = "mirrored",
    staleness: Annotated[int, typer.Option(help="Steps that a stale gradient may be late.")] = 1,
    sync_every: Annotated[int, typer.Option(help="Steps between averages of local weights.")] = 8,
    compression: Annotated[
        str,
        typer.Option(metavar="none|fp16|bf16|topk|int8|int4", help="How mirrored gradients are sent."),
    ] = "none",
    micro_batches: Annotated[int, typer.Option(help="Pieces that a rank's part of a batch is computed in.")] = 1,
    seed: Seed = 204,
    jobs: Annotated[int, typer.Option(min=1, help="Compilers at a time.")] = 1,
    device: TorchDevice = "cpu",
    cache: ProgramsCache = None,
    data: DataFolder = None,
    *,
    options: Any,
) -> None:
    """Train a classifier on labelled folders of programs; start again to go on after a stop.

    Under torchrun the ranks share the work: torchrun --nproc-per-node 2 -m ncc train classify …
    """
    given = arguments_of(locals())
    from ncc import api

    config = api.ClassifierTraining(
        **{each.name: given.pop(each.name) for each in fields(api.ClassifierTraining) if each.name in given}
    )
    given |= {"levels": split_list(levels), "embedding": api.load_embedding(embedding)}
    head = api.train_classifier(**given, config=config, card={"command": command_line()}, progress=say)
    if head:
        print_card(head.card)
