"""``ncc predict-coarsening``: how many work-items of a kernel to merge into one."""

from typing import Annotated, Any

import typer

from ncc.cli.options import EmbeddingFolder, HeadFolder, Inputs, Json, takes_compile_options
from ncc.cli.running import Input, run_over
from ncc.errors import InputError
from ncc.runtime.printable import source_name


@takes_compile_options()
def predict_coarsening(
    inputs: Inputs,
    platform: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Cypress (HD 5900), Tahiti (HD 7970), Fermi (GTX 480) or Kepler (K20c); default any other.",
        ),
    ] = None,
    head: HeadFolder = None,
    embedding: EmbeddingFolder = None,
    as_json: Json = False,
    *,
    options: Any,
) -> None:
    """Predict how many work-items of a kernel to merge into one, and what is gained by it."""
    from ncc import api

    own = api.load_coarsening_head(head)
    table = None if embedding is None else api.load_embedding(embedding)
    if platform is not None and platform not in own.devices:
        raise InputError(f"--platform is {platform!r}; expected one of {', '.join(own.devices)}")

    def work(name: Input) -> tuple[dict[str, Any], str]:
        answers = api.predict_coarsening(name, platform=platform, options=options, head=own, embedding=table)
        kernels = [answer.to_dict() for answer in answers]
        lines = [
            f"{name}: {source_name(answer.kernel)}: factor {answer.factor}, {answer.speedup:.2f}x "
            f"(80 % interval {answer.interval[0]:.2f}x to {answer.interval[1]:.2f}x); expected at "
            + ", ".join(f"{factor}: {speedup:.2f}x" for factor, speedup in answer.speedups.items())
            + (f"; {answer.caveat}" if answer.caveat else "")
            for answer in answers
        ]
        return kernels[0] | {"kernels": kernels}, "\n".join(lines)

    run_over(inputs, work, as_json=as_json, fields=("factor", "speedup", "interval", "platform"), kernels=True)
