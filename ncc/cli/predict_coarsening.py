"""``ncc predict-coarsening``: how many work-items of a kernel to merge into one."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncc.cli.options import EmbeddingFolder, HeadFolder, InputJobs, Inputs, Json, takes_compile_options
from ncc.cli.running import Input, loaded, run_over
from ncc.errors import InputError
from ncc.system.files.text import demangle

if TYPE_CHECKING:
    from ncc.tasks.coarsening.predict import CoarseningPrediction


@takes_compile_options()
def predict_coarsening(
    inputs: Inputs,
    device: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Cypress (HD 5900), Tahiti (HD 7970), Fermi (GTX 480) or Kepler (K20c); default: any other GPU.",
        ),
    ] = None,
    head: HeadFolder = None,
    embedding: EmbeddingFolder = None,
    jobs: InputJobs = 1,
    as_json: Json = False,
    *,
    options: Any,
) -> None:
    """Predict how many work-items of a kernel to merge into one, and the speedup."""
    from ncc import api

    own = loaded(api.load_coarsening_head, head)
    if device is not None and device not in own.devices:
        raise InputError(f"--device is {device!r}; expected one of {', '.join(own.devices)}")
    work = functools.partial(_predict, head=head, embedding=embedding, device=device, options=options)
    fields = ("factor", "speedup", "interval", "device")
    run_over(inputs, work, as_json=as_json, fields=fields, kernels=True, jobs=jobs, compile_s=options.timeout_s)


def _predict(name: Input, *, head: Path | None, embedding: Path | None, **how: Any) -> tuple[dict[str, Any], str]:
    from ncc import api

    how |= {"head": loaded(api.load_coarsening_head, head)}
    how |= {"embedding": embedding and loaded(api.load_embedding, embedding)}
    answers = api.predict_coarsening(name, **how)
    kernels = [answer.to_dict() for answer in answers]
    return kernels[0] | {"kernels": kernels}, "\n".join(f"{name}: {_sentence(answer)}" for answer in answers)


def _sentence(answer: "CoarseningPrediction") -> str:
    low, high = answer.interval
    spread = f" (80 % interval {low:.2f}x to {high:.2f}x)" if answer.factor > 1 else ""
    expected = ", ".join(f"{factor}: {speedup:.2f}x" for factor, speedup in answer.speedups.items())
    notes = "".join(f"; {warning}" for warning in answer.warnings)
    factor = f"factor {answer.factor}, {answer.speedup:.2f}x{spread}"
    return f"{demangle(answer.kernel)}: {factor}; expected at {expected}{notes}"
