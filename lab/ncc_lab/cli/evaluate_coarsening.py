"""``ncc evaluate coarsening``: thread coarsening under every protocol, against controls."""

from typing import Annotated

import typer

from ncc_lab.cli.comparing import Study, takes_study_options


@takes_study_options()
def evaluate_coarsening(
    protocol: Annotated[
        str, typer.Option(metavar="kernel|source|pair|device|all", help="What is held out for a test.")
    ] = "all",
    method: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Methods to run, such as '*line*'; default: all.")
    ] = None,
    networks: Annotated[
        bool, typer.Option("--networks/--no-networks", help="Also run our LSTM, DeepTune and DeepTune-TL (hours).")
    ] = False,
    *,
    study: Study,
) -> None:
    """Evaluate thread coarsening under every protocol: controls, published methods and ours."""
    import ncc_lab

    study.show(ncc_lab.evaluate_coarsening, protocol=protocol, method=method, networks=networks)
