"""``ncc data list``, ``fetch`` and ``verify``: the registry of datasets."""

import typer

from ncc.cli.options import DataFolder

__all__ = ["data_fetch", "data_list", "data_verify"]


def data_list() -> None:
    """Name the datasets, where they come from and whether they are here."""
    from ncc.data import dataset_names, describe, verify

    for name in dataset_names():
        card, state = describe(name), verify(name)
        print(f"{name:<12}{'here' if state.usable else 'missing':<10}{card.title}")


def data_fetch(name: str, data: DataFolder = None) -> None:
    """Print where a dataset's files are, or say where to get them."""
    from ncc.data import fetch

    for path in fetch(name, data):
        print(path)


def data_verify(name: str, data: DataFolder = None) -> None:
    """Check a dataset's files against their checksums."""
    from ncc.data import verify

    state = verify(name, data)
    for status in state.files:
        print(f"{status.state.value:<26}{status.path}")
    if not state.usable:
        raise typer.Exit(1)
