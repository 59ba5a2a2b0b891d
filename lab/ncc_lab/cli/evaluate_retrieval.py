"""``ncc evaluate retrieval``: do vectors of programs find the programs of their class?"""

from pathlib import Path
from typing import Annotated

import typer

from ncc.cli.options import (
    Compilers,
    DataFolder,
    EmbeddingFolder,
    Levels,
    OneJson,
    ProgramFolder,
    ProgramsCache,
    Seed,
    arguments_of,
    split_list,
)
from ncc.cli.output import now_and_then
from ncc_lab.cli.figures import Into, card_of, print_figures


def evaluate_retrieval(
    folder: ProgramFolder = None,
    classes: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Classes to compare, such as '81-104' or 'sort,search'; default: all."),
    ] = None,
    per_class: Annotated[
        int | None, typer.Option(min=2, help="Programs per class, drawn at random; default: all.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Methods to run, such as 'TF-IDF*'; default: all.")
    ] = None,
    encoder: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Also measure this encoder, made by 'ncc train encoder'."),
    ] = None,
    levels: Levels = "1",
    rerank: Annotated[
        bool, typer.Option("--rerank", help="Also move vectors towards their nearest neighbors among all programs.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write one method's vectors: .npz, .json, .csv, .parquet."),
    ] = None,
    embedding: EmbeddingFolder = None,
    seed: Seed = 204,
    jobs: Compilers = 1,
    programs: ProgramsCache = None,
    data: DataFolder = None,
    as_json: OneJson = False,
    into: Into = None,
) -> None:
    """Evaluate how well vectors find programs of the same class: MAP@R, each program compared with all others.

    ncc evaluate retrieval my-programs --method 'TF-IDF bag*' -o vectors.npz
    """
    given = arguments_of(locals()) | {"levels": split_list(levels), "output": output}
    del given["into"]
    import ncc_lab

    if into:
        card_of(into)

    found = ncc_lab.evaluate_retrieval(**given, progress=now_and_then())
    print_figures(found.to_dict(), found.parts(), None, as_json, into, found.to_card)
