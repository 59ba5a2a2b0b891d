"""``ncc evaluate retrieval``: do vectors of programs find the programs of their class?"""

from pathlib import Path
from typing import Annotated

from ncc.cli.printing import throttle
from ncc.verbs.types import Words, command, split_list
from ncc_lab.cli.figures import card_of, print_figures
from ncc_lab.cli.options import (
    Compilers,
    DataFolder,
    EmbeddingFolder,
    Into,
    Levels,
    OneJson,
    ProgramFolder,
    ProgramsCache,
    Seed,
)


@command()
def evaluate_retrieval(
    folder: ProgramFolder | None = None,
    *,
    classes: Annotated[
        str | None,
        Words(metavar="NAMES", help="Classes to compare, such as '81-104' or 'sort,search'; default: all."),
    ] = None,
    per_class: Annotated[
        int | None, Words(minimum=2, help="Programs per class, drawn at random; default: all.")
    ] = None,
    method: Annotated[
        list[str] | None, Words(metavar="PATTERN", help="Methods to run, such as 'TF-IDF*'; default: all.")
    ] = None,
    encoder: Annotated[
        Path | None,
        Words(metavar="FOLDER", help="Also measure this encoder, made by 'ncc train encoder'."),
    ] = None,
    levels: Levels = "1",
    rerank: Annotated[
        bool, Words(option=("--rerank",), help="Also move vectors towards their nearest neighbors among all programs.")
    ] = False,
    output: Annotated[
        Path | None,
        Words(
            metavar="FILE", option=("-o", "--output"), help="Write one method's vectors: .npz, .json, .csv, .parquet."
        ),
    ] = None,
    embedding: EmbeddingFolder | None = None,
    seed: Seed = 204,
    jobs: Compilers = 1,
    programs: ProgramsCache | None = None,
    data: DataFolder | None = None,
    as_json: OneJson = False,
    into: Into | None = None,
) -> None:
    """Evaluate how well vectors find programs of the same class: MAP@R, each program compared with all others.

    ncc evaluate retrieval my-programs --method 'TF-IDF bag*' -o vectors.npz
    """
    given = locals() | {"levels": split_list(levels)}
    for name in ("into", "as_json"):
        del given[name]
    import ncc_lab

    if into:
        card_of(into)

    found = ncc_lab.evaluate_retrieval(**given, progress=throttle())
    print_figures(found.to_dict(), found.parts(), None, as_json, into, found.to_card)
