"""Commands for the registry of datasets."""

import typer

from ncc.cli.output import DataFolder, fail
from ncc.errors import NccError

__all__ = ["register"]

datasets = typer.Typer(no_args_is_help=True, help="List, fetch and verify datasets.", rich_markup_mode=None)


@datasets.command("list")
def data_list() -> None:
    """Name the datasets, where they come from and whether they are here."""
    from ncc.data import dataset_names as names
    from ncc.data import describe, verify

    for name in names():
        card, state = describe(name), verify(name)
        print(f"{name:<12}{'here' if state.usable else 'missing':<10}{card.title}")


@datasets.command("fetch")
def data_fetch(name: str, data: DataFolder = None) -> None:
    """Bring a dataset into the data folder, or say where to get it."""
    from ncc.data import fetch

    try:
        for path in fetch(name, data):
            print(path)
    except NccError as error:
        fail(str(error))


@datasets.command("verify")
def data_verify(name: str, data: DataFolder = None) -> None:
    """Check a dataset's files against their checksums."""
    from ncc.data import verify

    try:
        state = verify(name, data)
    except NccError as error:
        fail(str(error))
    for status in state.files:
        print(f"{status.state.value:<26}{status.path}")
    if not state.usable:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Adds the group of commands to the application."""
    app.add_typer(datasets, name="data")
