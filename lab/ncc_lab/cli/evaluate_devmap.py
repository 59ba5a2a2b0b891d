"""``ncc evaluate devmap``: device mapping under every protocol, against controls."""

from typing import Annotated

from ncc.verbs.types import Words, command
from ncc_lab.cli.comparing import Study, StudyOptions


@command(resumes=True)
def evaluate_devmap(
    *,
    protocol: Annotated[
        str, Words(metavar="published|kernel|application|suite|all", help="What is held out for a test.")
    ] = "all",
    platform: Annotated[str, Words(metavar="amd|nvidia|all", help="Platforms to measure on.")] = "all",
    method: Annotated[
        list[str] | None, Words(metavar="PATTERN", help="Methods to run, such as 'opcode*'; default: all.")
    ] = None,
    network_seeds: Annotated[
        int, Words(minimum=1, help="Runs of methods that train a recurrent network (a minute per fold).")
    ] = 1,
    study: StudyOptions = Study(),
) -> None:
    """Evaluate device mapping under every protocol: controls, published methods and ours.

    Run again after a stop to resume from the folds that were finished.
    """
    own = {name: value for name, value in locals().items() if name != "study"}
    import ncc_lab

    study.show(ncc_lab.evaluate_devmap, **own)
