"""``ncc train encoder``: the encoder of functions and modules, linear or LSTM."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

from ncc.cli.options import (
    DataFolder,
    EmbeddingFolder,
    OutputFolder,
    ProgramFolder,
    ProgramsCache,
    Seed,
    TorchDevice,
    arguments_of,
    split_list,
)
from ncc.cli.output import print_card, say
from ncc.system.files.provenance import command_line


def train_encoder(
    output: OutputFolder,
    functions: Annotated[
        Path | None,
        typer.Option(
            metavar="RECIPE|FOLDER",
            help="Code whose functions are compiled in several ways, as for 'ncc corpus build'.",
        ),
    ] = None,
    functions_from: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="A linear encoder whose part for functions to keep, instead of --functions; classes are learnt anew.",
        ),
    ] = None,
    programs: ProgramFolder = None,
    classes: Annotated[
        str, typer.Option(metavar="NAMES", help="Classes of programs to learn from: names, ranges of numbers.")
    ] = "1-64",
    per_class: Annotated[
        int | None, typer.Option(min=2, help="Programs per class, drawn at random; default: all.")
    ] = None,
    clangs: Annotated[
        list[Path] | None,
        typer.Option("--with-clang", metavar="CLANG", help="Another compiler for functions; may be repeated."),
    ] = None,
    model: Annotated[
        str, typer.Option(metavar="linear|lstm", help="linear: on patterns of code; lstm: trained contrastively.")
    ] = "linear",
    levels: Annotated[
        str, typer.Option(metavar="LEVELS", help="Optimisation levels of the programs, such as '1,2'.")
    ] = "1",
    dim: Annotated[int, typer.Option(min=2, help="Number of dimensions.")] = 256,
    min_df: Annotated[int, typer.Option(min=1, help="How many programs and functions a pattern must occur in.")] = 60,
    embedding: EmbeddingFolder = None,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs of the LSTM.")] = 10,
    steps_per_epoch: Annotated[int, typer.Option(min=1, help="Batches per epoch of the LSTM.")] = 100,
    batch_size: Annotated[int, typer.Option(min=4, help="Programs and functions per step and rank.")] = 128,
    hidden: Annotated[int, typer.Option(min=1, help="Units in each direction of the LSTM.")] = 128,
    max_length: Annotated[int, typer.Option(min=1, help="Statements that the LSTM reads.")] = 256,
    learning_rate: Annotated[float, typer.Option(help="Learning rate of AdamW, for the LSTM.")] = 2e-3,
    temperature: Annotated[float, typer.Option(help="Temperature of the LSTM's contrastive loss.")] = 0.1,
    function_fraction: Annotated[
        float,
        typer.Option(min=0, max=1, help="Fraction of functions in a batch; 0: programs alone, 1: functions alone."),
    ] = 0.5,
    pretrained: Annotated[bool, typer.Option(help="Start from the embedding's vectors of statements.")] = True,
    literals: Annotated[bool, typer.Option(help="Read constants and external names.")] = True,
    seed: Seed = 204,
    device: TorchDevice = "cpu",
    jobs: Annotated[int, typer.Option(min=1, help="Compilers to run in parallel.")] = 1,
    cache: ProgramsCache = None,
    data: DataFolder = None,
) -> None:
    """Train the encoder: it places programs of a class, and builds of a function, near each other.

    The linear model is the one that ships, and better. Under torchrun the ranks of an LSTM share the work; run again
    to resume after a stop.

    Example: ncc train encoder --functions datasets/corpora/functions.toml --with-clang clang-14 -o my-encoder
    """
    given = arguments_of(locals())
    from ncc import api

    config = api.EncoderTraining(
        **{each.name: given.pop(each.name) for each in fields(api.EncoderTraining) if each.name in given}
    )
    given |= {"levels": split_list(levels), "clangs": tuple(clangs or ())}
    encoder = api.train_encoder(**given, config=config, card={"command": command_line()}, progress=say)
    if model == "linear" or "losses" in encoder.card:  # the first rank's alone
        print_card(dict(encoder.card))
