"""``ncc train coarsening``: a head that predicts thread-coarsening factors."""

from ncc.cli.options import DataFolder, OutputFolder, arguments_of
from ncc.cli.output import print_card
from ncc.system.files.provenance import command_line


def train_coarsening(
    output: OutputFolder,
    data: DataFolder = None,
) -> None:
    """Fit a thread-coarsening head to the published times, scored on kernels held out.

    Example: ncc train coarsening -o mine && ncc predict-coarsening kernel.cl --head mine
    """
    given = arguments_of(locals())
    from ncc import api

    head = api.train_coarsening(**given, about={"command": command_line()})
    print_card(head.card)
