"""Ranks of a data-parallel run: who we are, sums over all, and the process group that torchrun asks for."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from ncc.errors import NccError
from ncc.runtime.writable import only_writer

if TYPE_CHECKING:
    import torch

__all__ = ["process_group", "rank_and_world", "sole_training", "sum_over_ranks", "torch_threads", "wait_for_ranks"]


def rank_and_world() -> tuple[int, int]:
    """This process's rank and the number of ranks; (0, 1) outside a process group."""
    from torch import distributed

    return (distributed.get_rank(), distributed.get_world_size()) if distributed.is_initialized() else (0, 1)


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


@contextmanager
def process_group(device: str = "cpu", init_method: str = "env://") -> Iterator[str]:
    """Joins the ranks that torchrun started (NCCL on GPUs, gloo on CPUs); alone, does nothing.

    Args:
        device: What this rank computes on.
        init_method: Where the ranks meet, as `torch.distributed.init_process_group` takes it.

    Yields:
        The device of this rank: with several GPUs a machine, each rank has its own.

    Raises:
        NccError: The device asked for is not there.
    """
    import torch
    import torch.distributed.nn.functional  # see below
    from torch import distributed

    if device.startswith("cuda") and not torch.cuda.is_available():
        raise NccError(f"device {device}: this torch sees no CUDA device; use cpu")
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        yield device
        return
    on_gpu = device.startswith("cuda")
    if on_gpu:
        device = f"cuda:{int(os.environ.get('LOCAL_RANK', '0')) % torch.cuda.device_count()}"
        torch.cuda.set_device(device)
    # torch.optim imports torch.distributed.nn.functional, whose default arguments hold for ever the group that is there
    # by then. Imported before there is one, it lets the group go, and gloo's threads with it; left to run, they abort
    # the process now and then when the interpreter ends.
    distributed.init_process_group("nccl" if on_gpu else "gloo", init_method)
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
