"""``ncc classify``: which known problem a program solves."""

import functools
from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.options import EmbeddingFolder, InputJobs, Inputs, Json, takes_compile_options
from ncc.cli.running import Input, loaded, run_over
from ncc.system.files.text import escape_control


@takes_compile_options(without=("optimization",))
def classify(
    inputs: Inputs,
    top: Annotated[
        int, typer.Option(min=1, metavar="K", help="How many classes to list, the most probable first.")
    ] = 5,
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="LEVELS",
            help="Optimisation levels to compile at and average over, such as '0,1,2'; default: those of the "
            "classifier's training.",
        ),
    ] = None,
    head: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Classifier made by 'ncc train classify'; default: the shipped one."),
    ] = None,
    embedding: EmbeddingFolder = None,
    jobs: InputJobs = 1,
    as_json: Json = False,
    *,
    options: Any,
) -> None:
    """Say which known problem a program solves; C and C++ may lack their #include lines."""
    from ncc import api
    from ncc.learning.programs.labelled import level_names

    names = level_names(levels) if levels is not None else None
    loaded(api.load_classifier, head)
    work = functools.partial(_classify, head=head, embedding=embedding, top=top, levels=names, options=options)
    fields = ("classes", "is_known", "compiled_as", "levels")
    run_over(inputs, work, as_json=as_json, fields=fields, jobs=jobs, compile_s=options.timeout_s)


def _classify(name: Input, *, head: Path | None, embedding: Path | None, **how: Any) -> tuple[dict[str, Any], str]:
    from ncc import api

    how |= {"head": loaded(api.load_classifier, head), "embedding": loaded(api.load_embedding, embedding)}
    answer = api.classify(name, **how)
    classes = "; ".join(escape_control(str(share), lines=False) for share in answer.classes)
    text = f"{name}: {classes}" if answer.is_known else f"{name}: none of these, nearest: {classes}"
    return answer.to_dict(), text
