"""Commands that predict how kernels run: predict-device, predict-coarsening."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncc.cli.output import (
    Clang,
    Define,
    Flag,
    Include,
    Inputs,
    Json,
    Language,
    Optimization,
    Timeout,
    check_writable,
    compile_options,
    fail,
    run_over,
)
from ncc.errors import NccError

if TYPE_CHECKING:
    from ncc.devices.explain import LineShare

__all__ = ["register"]

_REASONS = 8


def predict_device(
    inputs: Inputs,
    transfer: Annotated[
        float | None, typer.Option(metavar="BYTES", help="Bytes moved between host and device.")
    ] = None,
    wgsize: Annotated[float | None, typer.Option(metavar="N", help="Work-items a work-group.")] = None,
    platform: Annotated[str, typer.Option(metavar="NAME", help="amd (Tahiti 7970) or nvidia (GTX 970).")] = "nvidia",
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the speedup over sizes of the data: .png, .svg or .pdf."),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say which lines of the source drove the answer.")] = False,
    as_json: Json = False,
    clang: Clang = None,
    include: Include = None,
    define: Define = None,
    flag: Flag = None,
    optimization: Optimization = "1",
    language: Language = None,
    timeout: Timeout = 60.0,
) -> None:
    """Predict whether a kernel runs faster on a CPU or a GPU, and by how much."""
    from ncc import devices
    from ncc.frontend import language_of
    from ncc.inputs import expand_inputs

    if platform not in devices.PLATFORMS:
        fail(f"--platform is {platform!r}; expected one of {', '.join(devices.PLATFORMS)}", code=2)
    for name, value in (("--transfer", transfer), ("--wgsize", wgsize)):
        if value is not None and not 0 <= value < float("inf"):
            fail(f"{name} is {value}; expected a number, 0 or more", code=2)
    if plot:
        if plot.suffix not in devices.PLOT_FORMATS:
            fail(f"{plot}: extension {plot.suffix!r} is none of {' '.join(devices.PLOT_FORMATS)}", code=2)
        if len(expand_inputs(inputs)) != 1:
            fail("--plot takes one input", code=2)
        check_writable(plot)
    options = compile_options(clang, include, define, flag, optimization, language, timeout)

    def work(name: str) -> tuple[dict[str, Any], str]:
        source = _read_once(name)
        chosen = options if source is name else replace(options, language=options.language or language_of(name))
        answers = devices.predict_device(
            source, transfer_bytes=transfer, wgsize=wgsize, platform=platform, options=chosen
        )
        kernels = [answer.to_dict() for answer in answers]
        lines = [
            f"{name}: {answer.kernel}: {answer.device} (confidence {answer.confidence:.0%}); GPU over CPU "
            f"{answer.speedup_gpu_over_cpu:.2f}x, 80 % interval {answer.interval[0]:.2f}x to "
            f"{answer.interval[1]:.2f}x; {answer.unknown_rate:.1%} of {answer.num_statements} statements unknown"
            for answer in answers
        ]
        if plot:
            curves = devices.predict_device_curve(source, wgsize=wgsize, platform=platform, options=chosen)
            devices.plot_curves(curves, plot)
            for number, curve in enumerate(curves):
                kernels[number] |= {"flips": list(curve.flips)}
                lines[number] += f"; flips at {_sizes(curve.flips)}"
        if explain:
            reasons = devices.explain_device(
                source, transfer_bytes=transfer, wgsize=wgsize, platform=platform, options=chosen
            )
            for number, reason in enumerate(reasons):
                kernels[number] |= {"explanation": reason.to_dict()["lines"]}
                lines[number] += "".join(_reason(share) for share in reason.lines[:_REASONS])
        return kernels[0] | {"kernels": kernels}, "\n".join(lines)

    fields = [
        "num_statements",
        "unknown_rate",
        "device",
        "confidence",
        "speedup_gpu_over_cpu",
        "interval",
        "platform",
    ]
    run_over(inputs, work, as_json=as_json, fields=fields)


def _read_once(name: str) -> str | bytes:
    """A file by its name, but standard input or a pipe as what it holds, since several questions are asked about it."""
    from ncc.runtime.streams import read_stream

    text = read_stream(name)
    return name if text is None else text


def predict_coarsening(
    inputs: Inputs,
    platform: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Cypress (HD 5900), Tahiti (HD 7970), Fermi (GTX 480) or Kepler (K20c); default any other.",
        ),
    ] = None,
    as_json: Json = False,
    clang: Clang = None,
    include: Include = None,
    define: Define = None,
    flag: Flag = None,
    optimization: Optimization = "1",
    language: Language = None,
    timeout: Timeout = 60.0,
) -> None:
    """Predict how many work-items of a kernel to merge into one, and what is gained by it."""
    from ncc import coarsening

    try:
        devices = coarsening.load_shipped_coarsening_head().devices
    except NccError as error:
        fail(str(error))
    if platform is not None and platform not in devices:
        fail(f"--platform is {platform!r}; expected one of {', '.join(devices)}", code=2)
    options = compile_options(clang, include, define, flag, optimization, language, timeout)

    def work(name: str) -> tuple[dict[str, Any], str]:
        answers = coarsening.predict_coarsening(name, platform=platform, options=options)
        kernels = [answer.to_dict() for answer in answers]
        lines = [
            f"{name}: {answer.kernel}: factor {answer.factor}, {answer.speedup:.2f}x "
            f"(80 % interval {answer.interval[0]:.2f}x to {answer.interval[1]:.2f}x); expected at "
            + ", ".join(f"{factor}: {speedup:.2f}x" for factor, speedup in answer.speedups.items())
            for answer in answers
        ]
        return kernels[0] | {"kernels": kernels}, "\n".join(lines)

    fields = ["num_statements", "unknown_rate", "factor", "speedup", "interval", "platform"]
    run_over(inputs, work, as_json=as_json, fields=fields)


def _sizes(flips: "tuple[float, ...]") -> str:
    return ", ".join(f"{size:.3g} bytes" for size in flips) or "no size of data from 1 KiB to 4 GiB"


def _reason(share: "LineShare") -> str:
    where = f"line {share.line}" if share.line else "statement"
    shown = share.statements[0] + (f" and {len(share.statements) - 1} more" if len(share.statements) > 1 else "")
    return f"\n    {abs(share.effect):5.2f} for the {'GPU' if share.effect > 0 else 'CPU'}: {where}: {shown}"


def register(app: typer.Typer) -> None:
    """Adds the commands to the application."""
    app.command("predict-device")(predict_device)
    app.command("predict-coarsening")(predict_coarsening)
