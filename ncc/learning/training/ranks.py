"""Ranks of a data-parallel run: our own rank, what all must agree on, and the process group under torchrun."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ncc.errors import AssetError, InputError, NccError
from ncc.system.files.models import read_whole, write_atomically
from ncc.system.files.writing import only_writer

if TYPE_CHECKING:
    import torch

T = TypeVar("T")

_TIMEOUT = timedelta(hours=6)
"""How long ranks wait for each other: longer than one may compile programs. torchrun ends them sooner if one dies."""


def rank_and_world() -> tuple[int, int]:
    """This process's rank and the number of ranks; (0, 1) outside a process group."""
    from torch import distributed

    return (distributed.get_rank(), distributed.get_world_size()) if distributed.is_initialized() else (0, 1)


def is_first_rank() -> bool:
    """True unless torchrun started this process as another rank than the first, inside a process group or not."""
    return os.environ.get("RANK", "0") == "0"


def wait_for_ranks() -> None:
    """Returns when all ranks have come here."""
    from torch import distributed

    if distributed.is_initialized():
        distributed.barrier()


def sum_over_ranks(tensors: Sequence["torch.Tensor"]) -> None:
    """Replaces each tensor by its sum over all ranks."""
    from torch import distributed

    if distributed.is_initialized():
        for tensor in tensors:
            distributed.all_reduce(tensor)


def gathered(own: T) -> list[T]:
    """What all ranks gave, in their order, on all of them."""
    from torch import distributed

    every: list[Any] = [own] * rank_and_world()[1]
    if len(every) > 1:
        distributed.all_gather_object(every, own)
    return every


def gathered_rows(own: "torch.Tensor", sizes: Sequence[int]) -> "torch.Tensor":
    """Rows of all ranks, one rank's after the other's, on all of them.

    Args:
        own: (sizes[rank], …) this rank's.
        sizes: Number of rows of each rank; one of them has some.
    """
    import torch
    from torch import distributed

    if len(sizes) == 1:
        return own
    padded = own.new_zeros((max(sizes), *own.shape[1:]))
    padded[: len(own)] = own
    parts = [torch.empty_like(padded) for _ in sizes]
    distributed.all_gather(parts, padded)
    return torch.cat([part[:size] for part, size in zip(parts, sizes, strict=True)])


def found_by_first(find: Callable[[], T]) -> T:
    """What the first rank finds, on all ranks: they need not see its files.

    Raises:
        AssetError: Finding it did, on all ranks alike.
    """
    from torch import distributed

    rank, world = rank_and_world()
    box: list[Any] = [None, None]
    if rank == 0:
        try:
            box[0] = find()
        except AssetError as error:
            if world == 1:
                raise
            box[1] = str(error)
    if world > 1:
        distributed.broadcast_object_list(box)
    if box[1] is not None:
        raise AssetError(box[1])
    return box[0]


def check_alike(about: Mapping[str, str]) -> None:
    """Compares what ranks are to do, before they begin to do it together.

    Args:
        about: Name → what must be the same on all ranks.

    Raises:
        InputError: Ranks differ; raised on all of them.
    """
    first, *others = gathered(dict(about))
    for rank, other in enumerate(others, 1):
        for name in sorted(first.keys() | other.keys()):
            if first.get(name) != other.get(name):
                raise InputError(
                    f"rank {rank} has {name} {other.get(name)}, rank 0 has {first.get(name)}; "
                    "all ranks must be given the same options and files"
                )


def share_files(paths: Sequence[Path]) -> None:
    """Sends files that some ranks have to those that have them not; nothing where all see the same folders.

    Args:
        paths: The same files in the same order on all ranks, in folders of their own or in one.

    Raises:
        AssetError: A file can't be read.
        OutputError: A file can't be written.
    """
    from torch import distributed

    rank, world = rank_and_world()
    if world == 1:
        return
    has = gathered([path.exists() for path in paths])
    for path, there in zip(paths, zip(*has, strict=True), strict=True):
        if any(there) and not all(there):
            source = there.index(True)
            box = [read_whole(path) if rank == source else None]
            distributed.broadcast_object_list(box, src=source)
            if not there[rank]:
                assert box[0] is not None
                write_atomically(path, box[0])


@contextmanager
def process_group(device: str = "cpu", init_method: str = "env://") -> Iterator[str]:
    """Joins the ranks that torchrun started (gloo for what is on CPUs, NCCL for what is on GPUs); alone, does nothing.

    Args:
        device: What this rank computes on.
        init_method: Where the ranks meet, as `torch.distributed.init_process_group` takes it.

    Yields:
        The device of this rank: with several GPUs a machine, each rank has its own.

    Raises:
        NccError: The device asked for is not there, or there are more ranks on this machine than GPUs.
    """
    import torch
    import torch.distributed.nn.functional  # see below
    from torch import distributed

    if device.startswith("cuda") and not torch.cuda.is_available():
        raise NccError(f"device {device}: this torch sees no CUDA device; use cpu")
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        yield device
        return
    gpu = None
    if device.startswith("cuda"):
        local, number = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
        if local >= number:
            raise NccError(
                f"rank {os.environ['RANK']} is number {local} on its machine (from 0), where torch sees {number} GPUs; "
                f"start {number} ranks there: torchrun --nproc-per-node {number}"
            )
        gpu = torch.device("cuda", local)
        device = str(gpu)
        torch.cuda.set_device(gpu)
    # torch.optim imports torch.distributed.nn.functional, whose default arguments hold for ever the group that is there
    # by then. Imported before there is one, it lets the group go, and gloo's threads with it; left to run, they abort
    # the process now and then when the interpreter ends.
    backend = "cpu:gloo,cuda:nccl" if gpu else "gloo"
    distributed.init_process_group(backend, init_method, timeout=_TIMEOUT, device_id=gpu)
    try:
        yield device
    finally:
        distributed.destroy_process_group()


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Has torch use so many threads for a while."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def sole_training(folder: Path | None) -> AbstractContextManager[None]:
    """Has the ranks of this training be the only ones that write to a folder, which the first of them claims.

    Raises:
        OutputError: Another training writes there.
    """
    return only_writer(folder, wait_s=0) if folder and rank_and_world()[0] == 0 else nullcontext()
