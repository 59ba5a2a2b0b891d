"""The workers of a Dask cluster as an executor."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from ncc.errors import NccError


@contextmanager
def cluster_executor(address: str | None, executor: Executor | None = None) -> Iterator[Executor | None]:
    """The workers of a Dask cluster.

    Args:
        address: Of its scheduler; None for none.
        executor: What is given back then.

    Raises:
        NccError: Dask is not installed, or no scheduler answers.
    """
    if address is None:
        yield executor
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise NccError(
            "--scheduler needs dask.distributed: in ncc's checkout, pip install -c constraints.txt '.[cluster]'"
        ) from error
    try:
        client = Client(address, timeout="15s")
    except (OSError, ValueError) as error:
        raise NccError(f"no Dask scheduler answers at {address}: {error}") from error
    with client, client.get_executor(pure=False) as workers:
        yield workers
