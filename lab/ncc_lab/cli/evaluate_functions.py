"""``ncc evaluate functions``: does a function find itself, compiled in another way?"""

from pathlib import Path
from typing import Annotated

import typer

from ncc.cli.options import Compilers, EmbeddingFolder, OneJson, Seed
from ncc.cli.output import now_and_then
from ncc_lab.cli.figures import Into, card_of, print_figures


def evaluate_functions(
    projects: Annotated[
        list[str], typer.Argument(metavar="PROJECT...", help="Folders of sources, and recipes of such (.toml).")
    ],
    method: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Methods to run, as 'TF-IDF*'; default all.")
    ] = None,
    clang: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="A further compiler, whose -O2 asks as well.")
    ] = None,
    embedding: EmbeddingFolder = None,
    seed: Seed = 204,
    jobs: Compilers = 1,
    ir: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep compiled IR there; default the user's cache.")
    ] = None,
    as_json: OneJson = False,
    into: Into = None,
) -> None:
    """Measure how often a function finds itself among all of its project, compiled at -O0 or by another compiler.

    ncc evaluate functions my-project --clang clang-19
    """
    import ncc_lab

    if into:
        card_of(into)

    found = ncc_lab.evaluate_functions(
        projects, method=method, clang=clang, embedding=embedding, seed=seed, jobs=jobs, ir=ir, progress=now_and_then()
    )
    print_figures(found.to_dict(), found.parts(), None, as_json, into, found.to_card)
