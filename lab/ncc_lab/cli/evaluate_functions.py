"""``ncc evaluate functions``: does a function find itself, compiled in another way?"""

from pathlib import Path
from typing import Annotated

from ncc.cli.printing import throttle
from ncc.verbs.types import Words, command
from ncc_lab.cli.figures import card_of, print_figures
from ncc_lab.cli.options import Compilers, EmbeddingFolder, Into, OneJson, Seed


@command()
def evaluate_functions(
    projects: Annotated[
        list[str], Words(metavar="PROJECT...", help="Folders of sources, and recipes of such (.toml).")
    ],
    *,
    method: Annotated[
        list[str] | None, Words(metavar="PATTERN", help="Methods to run, as 'TF-IDF*'; default all.")
    ] = None,
    clang: Annotated[
        list[str] | None, Words(metavar="PATH", help="A further compiler, whose -O2 asks as well.")
    ] = None,
    embedding: EmbeddingFolder | None = None,
    seed: Seed = 204,
    jobs: Compilers = 1,
    ir: Annotated[
        Path | None, Words(metavar="FOLDER", help="Keep compiled IR there; default the user's cache.")
    ] = None,
    as_json: OneJson = False,
    into: Into | None = None,
) -> None:
    """Measure how often a function finds itself among all of its project, compiled at -O0 or by another compiler.

    ncc evaluate functions my-project --clang clang-19
    """
    import ncc_lab

    if into:
        card_of(into)

    found = ncc_lab.evaluate_functions(
        projects, method=method, clang=clang, embedding=embedding, seed=seed, jobs=jobs, ir=ir, progress=throttle()
    )
    print_figures(found.to_dict(), found.parts(), None, as_json, into, found.to_card)
