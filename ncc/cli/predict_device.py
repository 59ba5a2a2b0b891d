"""``ncc predict-device``: CPU or GPU, by how much, from which size of the data on, and because of which lines."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ncc.cli.options import EmbeddingFolder, HeadFolder, Inputs, Json, takes_compile_options
from ncc.cli.running import Input, check_plot, run_over
from ncc.runtime.printable import printable, source_name
from ncc.runtime.quantities import parse_bytes, parse_items, readable_bytes

if TYPE_CHECKING:
    from ncc.devices import DevicePrediction, LineShare

_FIELDS = (
    "device", "confidence", "speedup_gpu_over_cpu", "interval", "platform", "verdict", "odds", "times_ms",
    "familiar", "distance",
)  # fmt: skip
_REASONS = 8


@takes_compile_options()
def predict_device(
    inputs: Inputs,
    transfer: Annotated[
        str | None,
        typer.Option(metavar="BYTES", help="Bytes moved between host and device, as 65536, 64KiB or 1GB."),
    ] = None,
    wgsize: Annotated[float | None, typer.Option(metavar="N", help="Work-items in a work-group.")] = None,
    global_size: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="Work-items of the launch, as 65536 or 64K; bytes follow from it, or it from them."
        ),
    ] = None,
    platform: Annotated[
        Literal["amd", "nvidia"] | None, typer.Option(help="amd (Tahiti 7970) or nvidia (GTX 970), the default.")
    ] = None,
    head: HeadFolder = None,
    embedding: EmbeddingFolder = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the speedup over sizes of the data: .png, .svg or .pdf."),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say which lines of the source drove the answer.")] = False,
    as_json: Json = False,
    *,
    options: Any,
) -> None:
    """Predict whether a kernel runs faster on a CPU or a GPU, and by how much."""
    from ncc import api
    from ncc.devices import plot_curves
    from ncc.devices.inputs import check_sizes
    from ncc.frontend import language_of

    transfer_bytes = None if transfer is None else parse_bytes(transfer)
    work_items = None if global_size is None else parse_items(global_size)
    check_sizes(transfer_bytes, wgsize)
    check_plot(plot, inputs)
    own = None if head is None else api.load_device_head(head)
    table = None if embedding is None else api.load_embedding(embedding)

    def work(name: Input) -> tuple[dict[str, Any], str]:
        source = _read_once(name)
        chosen = options if source is name else replace(options, language=options.language or language_of(name))
        how: dict[str, Any] = {
            "wgsize": wgsize,
            "platform": platform,
            "options": chosen,
            "head": own,
            "embedding": table,
        }
        at = {"transfer_bytes": transfer_bytes, "global_size": work_items}
        answers = api.predict_device(source, **at, **how)
        kernels = [answer.to_dict() for answer in answers]
        lines = [f"{name}: {_sentence(answer)}" for answer in answers]
        if plot:
            curves = api.predict_device_curve(source, **how)
            plot_curves(curves, plot)
            for number, curve in enumerate(curves):
                kernels[number] |= {"flips": list(curve.flips)}
                lines[number] += f"; flips at {_sizes(curve.flips)}"
        if explain:
            for number, reason in enumerate(api.explain_device(source, **at, **how)):
                kernels[number] |= {"explanation": reason.to_dict()["lines"]}
                lines[number] += "".join(_reason(share) for share in reason.lines[:_REASONS])
        return kernels[0] | {"kernels": kernels}, "\n".join(lines)

    run_over(inputs, work, as_json=as_json, fields=_FIELDS, kernels=True)


def _read_once(name: Input) -> Input | bytes:
    """A file by its name, but standard input or a pipe as what it holds, since several questions are asked about it."""
    from ncc.runtime.streams import read_stream

    text = read_stream(name)
    return name if text is None else text


def _sentence(answer: "DevicePrediction") -> str:
    unknown = f"{answer.unknown_rate:.1%} of {answer.num_statements} statements unknown"
    return f"{source_name(answer.kernel)}: {answer}; {unknown}"


def _sizes(flips: tuple[float, ...]) -> str:
    return ", ".join(map(readable_bytes, flips)) or "no size of data from 1 KiB to 4 GiB"


def _reason(share: "LineShare") -> str:
    where = f"line {share.line}" if share.line else "statement"
    shown = printable(share.statements[0], lines=False) + (
        f" and {len(share.statements) - 1} more" if len(share.statements) > 1 else ""
    )
    return f"\n    {abs(share.effect):5.2f} for the {share.speaks_for}: {where}: {shown}"
