"""``ncc predict-device``: CPU or GPU, by how much, where the answer flips, and because of which lines."""

import functools
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ncc.cli.options import EmbeddingFolder, HeadFolder, InputJobs, Inputs, Json, takes_compile_options
from ncc.cli.running import Input, check_plot, loaded, run_over
from ncc.system.files.text import demangle, escape_control, format_bytes, parse_bytes, parse_items

if TYPE_CHECKING:
    from ncc.tasks.devices.predict import LineContribution
    from ncc.tasks.devices.prediction import DevicePrediction

_FIELDS = (
    "device", "confidence", "speedup_gpu_over_cpu", "interval", "platform", "verdict", "probabilities", "times_ms",
    "familiar", "distance",
)  # fmt: skip
_REASONS = 8


@takes_compile_options()
def predict_device(
    inputs: Inputs,
    transfer: Annotated[
        str | None,
        typer.Option(metavar="BYTES", help="Bytes moved between host and device, such as 65536, 64KiB or 1GB."),
    ] = None,
    wgsize: Annotated[float | None, typer.Option(metavar="N", help="Work-items in a work-group.")] = None,
    global_size: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Work-items of the launch, such as 65536 or 64K; default: derived from --transfer.",
        ),
    ] = None,
    platform: Annotated[
        Literal["amd", "nvidia"] | None, typer.Option(help="amd (Tahiti 7970) or nvidia (GTX 970), the default.")
    ] = None,
    head: HeadFolder = None,
    embedding: EmbeddingFolder = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the speedup over data sizes: .png, .svg or .pdf."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show which lines of the source drove the answer.")
    ] = False,
    jobs: InputJobs = 1,
    as_json: Json = False,
    *,
    options: Any,
) -> None:
    """Predict whether a kernel runs faster on a CPU or a GPU, and by how much."""
    from ncc import api
    from ncc.tasks.devices.features import check_sizes

    at = {
        "transfer_bytes": None if transfer is None else parse_bytes(transfer),
        "global_size": None if global_size is None else parse_items(global_size),
    }
    check_sizes(at["transfer_bytes"], wgsize, at["global_size"])
    check_plot(plot, inputs)
    if head is not None:
        loaded(api.load_device_head, head)
    work = functools.partial(
        _predict,
        at=at,
        how={"wgsize": wgsize, "platform": platform, "head": head, "embedding": embedding, "options": options},
        plot=plot,
        explain=explain,
    )
    run_over(inputs, work, as_json=as_json, fields=_FIELDS, kernels=True, jobs=jobs, compile_s=options.timeout_s)


def _predict(
    name: Input, *, at: dict[str, Any], how: dict[str, Any], plot: Path | None, explain: bool
) -> tuple[dict[str, Any], str]:
    from ncc import api
    from ncc.ir.frontend.languages import language_of
    from ncc.tasks.devices.plot import plot_curves
    from ncc.tasks.devices.predict import explain_kernel, predict_curve, predict_kernel, read_inputs
    from ncc.tasks.devices.prediction import SIZES

    source, options = _read_once(name), how["options"]
    if source is not name:
        options = replace(options, language=options.language or language_of(name))
    head = how["head"] and loaded(api.load_device_head, how["head"])
    embedding = how["embedding"] and loaded(api.load_embedding, how["embedding"])
    options = replace(options, debug_lines=options.debug_lines or explain)
    head, inputs = read_inputs(source, how["platform"], head, embedding, options)
    launch = at["transfer_bytes"], how["wgsize"], at["global_size"]
    answers = [predict_kernel(kernel, head, *launch) for kernel in inputs]
    kernels = [answer.to_dict() for answer in answers]
    lines = [f"{name}: {_sentence(answer)}" for answer in answers]
    if plot:
        curves = [predict_curve(kernel, head, SIZES, how["wgsize"]) for kernel in inputs]
        plot_curves(curves, plot)
        for number, curve in enumerate(curves):
            kernels[number] |= {"crossovers": list(curve.crossovers)}
            lines[number] += f"; flips at {_sizes(curve.crossovers)}"
    if explain:
        for number, kernel in enumerate(inputs):
            reason = explain_kernel(kernel, head, *launch)
            kernels[number] |= {"explanation": reason.to_dict()["lines"]}
            lines[number] += "".join(_reason(share) for share in reason.lines[:_REASONS])
    return kernels[0] | {"kernels": kernels}, "\n".join(lines)


def _read_once(name: Input) -> Input | bytes:
    """A file by its name, but standard input or a pipe as what it holds, since several questions are asked about it."""
    from ncc.system.files.reading import read_stream

    text = read_stream(name)
    return name if text is None else text


def _sentence(answer: "DevicePrediction") -> str:
    unknown = f"{answer.unknown_rate:.1%} of {answer.num_statements} statements unknown"
    return f"{demangle(answer.kernel)}: {answer}; {unknown}"


def _sizes(sizes: tuple[float, ...]) -> str:
    return ", ".join(map(format_bytes, sizes)) or "no size of data from 1 KiB to 4 GiB"


def _reason(share: "LineContribution") -> str:
    where = f"line {share.line}" if share.line else "statement"
    shown = escape_control(share.statements[0], lines=False) + (
        f" and {len(share.statements) - 1} more" if len(share.statements) > 1 else ""
    )
    return f"\n    {math.exp(abs(share.log_ratio_change)):5.2f}x for the {share.favors}: {where}: {shown}"
