"""``ncc evaluate devmap``: device mapping under every protocol, beside its controls."""

from pathlib import Path
from typing import Annotated

import typer

from ncc.cli.comparing import Study, takes_study_options
from ncc.cli.options import arguments_of


@takes_study_options()
def evaluate_devmap(
    protocol: Annotated[str, typer.Option(help="published, kernel, application, suite or all.")] = "all",
    platform: Annotated[str, typer.Option(help="amd, nvidia or all.")] = "all",
    method: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Methods to run, as 'opcode*'; default all.")
    ] = None,
    network_seeds: Annotated[
        int, typer.Option(min=1, help="Runs of methods that train a recurrent network, a minute a fold.")
    ] = 1,
    ir2vec: Annotated[
        Path | None, typer.Option(metavar="FILE", help="IR2Vec's seed vectors; default those of our embedding.")
    ] = None,
    *,
    study: Study,
) -> None:
    """Measure device mapping under every protocol, controls beside published methods and ours.

    A run that was stopped goes on from the folds that were finished when the command is given again.
    """
    own = arguments_of(locals())
    from ncc import api

    study.show(api.evaluate_devmap, **own)
