"""``ncc train calibration``: what the similarity of two functions means."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.options import (
    EmbeddingFolder,
    EncoderFolder,
    Levels,
    PoolingName,
    arguments_of,
    split_list,
    takes_compile_options,
)
from ncc.cli.output import now_and_then, print_answer
from ncc.system.files.provenance import command_line


@takes_compile_options(without="optimization")
def train_calibration(
    inputs: Annotated[list[str], typer.Argument(metavar="FOLDER...", help="Source that nothing was trained on.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.json", help="File for the calibration.")],
    levels: Levels = "1,2,s",
    pooling: PoolingName = None,
    embedding: EmbeddingFolder = None,
    encoder: EncoderFolder = None,
    min_statements: Annotated[int, typer.Option(min=1, help="Leave out smaller functions.")] = 10,
    *,
    options: Any,
) -> None:
    """Calibrate similarities: the same functions at several optimisation levels against different functions.

    ncc train calibration sources -o calibration.json --pooling mean
    """
    given = arguments_of(locals()) | {"levels": split_list(levels)}
    from ncc import api

    made = api.train_calibration(**given, progress=now_and_then(), about={"command": command_line()})
    about = made.about
    print_answer(
        f"{made.pooler_id}: {about['same_pairs']} pairs of the same function, {about['other_pairs']} of others"
    )
    for num_functions in (1_000, 100_000):
        shares = ", ".join(
            f"{share:.0%} from {threshold:.4f}"
            if (threshold := made.threshold(share, num_functions))
            else f"{share:.0%} never"
            for share in (0.5, 0.9, 0.99)
        )
        print_answer(f"  in {num_functions:,} functions, true pairs are {shares}")
