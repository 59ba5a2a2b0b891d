"""``ncc train coarsening``: a head that predicts thread-coarsening factors."""

from ncc.cli.options import DataFolder, OutputFolder
from ncc.cli.output import print_card
from ncc.runtime.provenance import command_line

__all__ = ["train_coarsening"]


def train_coarsening(output: OutputFolder, data: DataFolder = None) -> None:
    """Fit the head of thread coarsening to the PACT'14 table, measured on kernels held out."""
    from ncc import api

    print_card(api.train_coarsening(output, data=data, about={"command": command_line()}).about)
