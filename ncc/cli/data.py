"""``ncc data list``, ``fetch`` and ``verify``: the registry of datasets."""

from typing import Annotated

import typer

from ncc.cli.options import DataFolder
from ncc.cli.output import print_answer, print_rows

DatasetName = Annotated[str, typer.Argument(metavar="NAME", help="A dataset of 'ncc data list'.")]


def data_list() -> None:
    """List the datasets, where they come from and whether you have them."""
    from ncc.learning.data.registry import dataset_names, describe, verify

    rows = [(name, "here" if verify(name).usable else "missing", describe(name).title) for name in dataset_names()]
    print_rows(rows, ("name", "state", "title"))


def data_fetch(name: DatasetName, data: DataFolder = None) -> None:
    """Print where a dataset's files are, or say where to get them."""
    from ncc.learning.data.registry import fetch

    for path in fetch(name, data):
        print_answer(str(path))


def data_verify(name: DatasetName, data: DataFolder = None) -> None:
    """Check a dataset's files against their checksums."""
    from ncc.learning.data.registry import verify

    state = verify(name, data)
    print_rows([(status.state.value, str(status.path)) for status in state.files], ("state", "file"))
    if not state.usable:
        raise typer.Exit(1)
