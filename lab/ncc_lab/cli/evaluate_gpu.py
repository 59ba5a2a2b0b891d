"""``ncc evaluate gpu``: predicted launches of GPU kernels, with programs held out."""

from typing import Annotated, Any

from ncc.cli.printing import print_message
from ncc.system.files.writing import check_writable
from ncc.verbs.types import Words, command
from ncc_lab.cli.figures import card_of, print_figures
from ncc_lab.cli.options import DataFolder, Into, OneJson, ResultFile, Seed


@command()
def evaluate_gpu(
    *,
    method: Annotated[
        str,
        Words(help="ncc, process, lstm, vectors, trees, physics, counts, sizes, median, 'perfect counts' or all."),
    ] = "all",
    seed: Seed = 204,
    data: DataFolder | None = None,
    output: ResultFile | None = None,
    as_json: OneJson = False,
    into: Into | None = None,
) -> None:
    """Evaluate predicted times and bounds of GPU kernel launches, with programs held out, against controls.

    Example: ncc evaluate gpu --method ncc
    """
    import ncc_lab

    check_writable(output)
    if into:
        card_of(into)
    found = ncc_lab.evaluate_gpu(method, seed=seed, data=data, progress=print_message)
    lines = [f"{name}, {way}: {_line(one)}" for name, ways in found.items() for way, one in ways.items()]
    print_figures({"methods": found}, lines, output, as_json, into, lambda: found.get("ncc", found))


def _line(figures: dict[str, Any]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {one['value']:.3f} ({one['low']:.3f} to {one['high']:.3f})"
        for name, one in figures.items()
        if isinstance(one, dict)
    )
