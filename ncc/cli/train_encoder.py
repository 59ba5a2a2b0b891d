"""``ncc train encoder``: the encoder of functions and modules."""

from pathlib import Path
from typing import Annotated

import typer

from ncc.cli.options import DataFolder, OutputFolder, ProgramFolder, ProgramsCache, Seed, arguments_of, split_list
from ncc.cli.output import print_card, say
from ncc.runtime.provenance import command_line

__all__ = ["train_encoder"]


def train_encoder(
    output: OutputFolder,
    functions: Annotated[
        Path,
        typer.Option(
            metavar="RECIPE|FOLDER",
            help="Code whose functions are compiled in several ways, as for 'ncc corpus build'.",
        ),
    ],
    programs: ProgramFolder = None,
    classes: Annotated[str, typer.Option(help="Classes of programs to learn from: names, ranges of numbers.")] = "1-64",
    clangs: Annotated[
        list[Path] | None,
        typer.Option("--with-clang", metavar="CLANG", help="Compile functions by this one as well; may be repeated."),
    ] = None,
    levels: Annotated[str, typer.Option(help="Optimisation levels of the programs, as '1,2'.")] = "1",
    dim: Annotated[int, typer.Option(min=2, help="Number of dimensions.")] = 256,
    least: Annotated[int, typer.Option(min=1, help="Programs and functions that a pattern is in at least.")] = 60,
    seed: Seed = 204,
    jobs: Annotated[int, typer.Option(min=1, help="Compilers at a time.")] = 1,
    cache: ProgramsCache = None,
    data: DataFolder = None,
) -> None:
    """Train the encoder: programs of a class near each other, and a function near itself, however it was compiled.

    Example: ncc train encoder --functions datasets/corpora/functions.toml --with-clang clang-14 -o my-encoder
    """
    given = arguments_of(locals())
    from ncc import api

    given |= {"levels": split_list(levels), "clangs": tuple(clangs or ())}
    encoder = api.train_encoder(**given, about={"command": command_line()}, progress=say)
    print_card(dict(encoder.about))
