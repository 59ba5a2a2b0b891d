"""``ncc predict-gpu``: how long a kernel's launch takes and what bounds it, before its first run."""

import functools
from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.options import HeadFolder, InputJobs, Inputs, Json, takes_compile_options
from ncc.cli.profile import Arguments, BlockSize, GridSize, KernelName, parse_launch, parse_words
from ncc.cli.running import Input, check_plot, loaded, run_over

_FIELDS = (
    "time_ms", "interval_ms", "bound", "bound_probability", "compute_probability", "traffic_bytes", "flops",
    "familiar", "extrapolated", "gpu",
)  # fmt: skip


@takes_compile_options()
def predict_gpu(
    inputs: Inputs,
    grid: GridSize,
    block: BlockSize,
    arg: Arguments = None,
    kernel: KernelName = None,
    program_args: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The program's command line, such as '1024 100', for sizes read from argv."),
    ] = None,
    gpu: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="A card, such as A100; default: the head's own. Answers for others are extrapolated."
        ),
    ] = None,
    head: HeadFolder = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the kernels under the card's roofline: .png, .svg or .pdf."),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what the answer is based on.")] = False,
    jobs: InputJobs = 1,
    as_json: Json = False,
    *,
    options: Any,
) -> None:
    """Predict how long a launch of GPU kernels takes, and whether compute or bandwidth bounds it.

    Example: ncc predict-gpu saxpy.cu --grid 4096 --block 256 --arg n=1000000 --explain
    """
    from ncc import api
    from ncc.tasks.gpus.specs import find_spec

    check_plot(plot, inputs)
    asked: dict[str, Any] = {
        **parse_launch(grid, block, arg),
        "kernel": kernel,
        "program_arguments": None if program_args is None else parse_words("--program-args", program_args),
        "gpu": gpu,
        "options": options,
    }

    if gpu is not None:
        find_spec(gpu)
    if head is not None:
        loaded(api.load_gpu_head, head)
    work = functools.partial(_predict, asked=asked, head=head, plot=plot, explain=explain)
    run_over(inputs, work, as_json=as_json, fields=_FIELDS, kernels=True, jobs=jobs, compile_s=options.timeout_s)


def _predict(
    name: Input, *, asked: dict[str, Any], head: Path | None, plot: Path | None, explain: bool
) -> tuple[dict[str, Any], str]:
    from ncc import api
    from ncc.tasks.gpus.predict import plot_roofline

    answers = api.predict_gpu(name, head=head and loaded(api.load_gpu_head, head), **asked)
    if plot:
        plot_roofline(answers, plot)
    lines = [f"{name}: {answer}" + (f"\n{answer.explanation()}" if explain else "") for answer in answers]
    kernels = [answer.to_dict() for answer in answers]
    return kernels[0] | {"kernels": kernels}, "\n".join(lines)
