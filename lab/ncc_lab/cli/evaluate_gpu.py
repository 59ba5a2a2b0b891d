"""``ncc evaluate gpu``: predicted launches of GPU kernels, with programs held out."""

from typing import Annotated, Any

import typer

from ncc.cli.options import DataFolder, OneJson, ResultFile, Seed
from ncc.cli.output import say
from ncc.system.files.writing import check_writable
from ncc_lab.cli.figures import Into, card_of, print_figures


def evaluate_gpu(
    method: Annotated[
        str,
        typer.Option(
            help="ncc, process, lstm, vectors, trees, physics, counts, sizes, median, 'perfect counts' or all."
        ),
    ] = "all",
    seed: Seed = 204,
    data: DataFolder = None,
    output: ResultFile = None,
    as_json: OneJson = False,
    into: Into = None,
) -> None:
    """Evaluate predicted times and bounds of GPU kernel launches, with programs held out, against controls.

    Example: ncc evaluate gpu --method ncc
    """
    import ncc_lab

    check_writable(output)
    if into:
        card_of(into)
    found = ncc_lab.evaluate_gpu(method, seed=seed, data=data, progress=say)
    lines = [f"{name}, {way}: {_line(one)}" for name, ways in found.items() for way, one in ways.items()]
    print_figures({"methods": found}, lines, output, as_json, into, lambda: found.get("ncc", found))


def _line(figures: dict[str, Any]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {one['value']:.3f} ({one['low']:.3f} to {one['high']:.3f})"
        for name, one in figures.items()
        if isinstance(one, dict)
    )
