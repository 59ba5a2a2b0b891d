"""``ncc evaluate coarsening``: thread coarsening under every protocol, against controls."""

from typing import Annotated

from ncc.verbs.types import Words, command
from ncc_lab.cli.comparing import Study, StudyOptions


@command(resumes=True)
def evaluate_coarsening(
    *,
    protocol: Annotated[
        str, Words(metavar="kernel|source|pair|device|all", help="What is held out for a test.")
    ] = "all",
    method: Annotated[
        list[str] | None, Words(metavar="PATTERN", help="Methods to run, such as '*line*'; default: all.")
    ] = None,
    networks: Annotated[
        bool, Words(option=("--networks",), help="Also run our LSTM, DeepTune and DeepTune-TL (hours).")
    ] = False,
    study: StudyOptions = Study(),
) -> None:
    """Evaluate thread coarsening under every protocol: controls, published methods and ours."""
    import ncc_lab

    study.show(ncc_lab.evaluate_coarsening, protocol=protocol, method=method, networks=networks)
