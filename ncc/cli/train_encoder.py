"""``ncc train encoder``: the encoder of functions and modules, linear or LSTM."""

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
from ncc.runtime.provenance import command_line


def train_encoder(
    output: OutputFolder,
    functions: Annotated[
        Path | None,
        typer.Option(
            metavar="RECIPE|FOLDER",
            help="Code whose functions are compiled in several ways, as for 'ncc corpus build'.",
        ),
    ] = None,
    functions_of: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="In its place a linear encoder: all of it is kept but what tells classes of programs apart.",
        ),
    ] = None,
    programs: ProgramFolder = None,
    classes: Annotated[str, typer.Option(help="Classes of programs to learn from: names, ranges of numbers.")] = "1-64",
    per_class: Annotated[
        int | None, typer.Option(min=2, help="Programs of each class, drawn at random; default all.")
    ] = None,
    clangs: Annotated[
        list[Path] | None,
        typer.Option("--with-clang", metavar="CLANG", help="Compile functions by this one as well; may be repeated."),
    ] = None,
    model: Annotated[str, typer.Option(help="linear, of patterns of code, or lstm, trained by contrast.")] = "linear",
    levels: Annotated[str, typer.Option(help="Optimisation levels of the programs, as '1,2'.")] = "1",
    dim: Annotated[int, typer.Option(min=2, help="Number of dimensions.")] = 256,
    least: Annotated[int, typer.Option(min=1, help="Programs and functions that a pattern is in at least.")] = 60,
    embedding: EmbeddingFolder = None,
    epochs: Annotated[int, typer.Option(min=1, help="Of the LSTM.")] = 10,
    steps: Annotated[int, typer.Option(min=1, help="Batches of an epoch of the LSTM.")] = 100,
    batch_size: Annotated[int, typer.Option(min=4, help="Programs and functions a step, of each rank.")] = 128,
    hidden: Annotated[int, typer.Option(min=1, help="Units of each direction of the LSTM.")] = 128,
    longest: Annotated[int, typer.Option(min=1, help="Statements that the LSTM reads.")] = 256,
    learning_rate: Annotated[float, typer.Option(help="Of AdamW.")] = 2e-3,
    temperature: Annotated[float, typer.Option(help="What similarities are divided by.")] = 0.1,
    function_share: Annotated[
        float, typer.Option(min=0, max=1, help="Share of a batch that is functions; 0: labels alone, 1: functions.")
    ] = 0.5,
    pretrained: Annotated[bool, typer.Option(help="Begin with the embedding's vectors of statements.")] = True,
    literals: Annotated[bool, typer.Option(help="Read constants and outside names.")] = True,
    seed: Seed = 204,
    device: TorchDevice = "cpu",
    jobs: Annotated[int, typer.Option(min=1, help="Compilers at a time.")] = 1,
    cache: ProgramsCache = None,
    data: DataFolder = None,
) -> None:
    """Train the encoder: programs of a class near each other, and a function near itself, however it was compiled.

    The linear model is what ships, and better. Under torchrun the ranks of an LSTM share the work; start again to go
    on after a stop.

    Example: ncc train encoder --functions datasets/corpora/functions.toml --with-clang clang-14 -o my-encoder
    """
    given = arguments_of(locals())
    from ncc import api

    given |= {"levels": split_list(levels), "clangs": tuple(clangs or ())}
    encoder = api.train_encoder(**given, about={"command": command_line()}, progress=say)
    if model == "linear" or "losses" in encoder.about:  # the first rank's alone
        print_card(dict(encoder.about))
