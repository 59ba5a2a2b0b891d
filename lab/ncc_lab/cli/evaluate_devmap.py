"""``ncc evaluate devmap``: device mapping under every protocol, against controls."""

from typing import Annotated

import typer

from ncc.cli.options import arguments_of
from ncc_lab.cli.comparing import Study, takes_study_options


@takes_study_options()
def evaluate_devmap(
    protocol: Annotated[
        str, typer.Option(metavar="published|kernel|application|suite|all", help="What is held out for a test.")
    ] = "all",
    platform: Annotated[str, typer.Option(metavar="amd|nvidia|all", help="Platforms to measure on.")] = "all",
    method: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Methods to run, such as 'opcode*'; default: all.")
    ] = None,
    network_seeds: Annotated[
        int, typer.Option(min=1, help="Runs of methods that train a recurrent network (a minute per fold).")
    ] = 1,
    *,
    study: Study,
) -> None:
    """Evaluate device mapping under every protocol: controls, published methods and ours.

    Run again after a stop to resume from the folds that were finished.
    """
    own = arguments_of(locals())
    import ncc_lab

    study.show(ncc_lab.evaluate_devmap, **own)
