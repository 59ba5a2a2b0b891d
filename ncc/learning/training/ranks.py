"""Ranks of a data-parallel run under torchrun: process group, consistency, and small uncounted collectives."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ncc.errors import AssetError, InputError, NccError
from ncc.system.files.models import read_whole
from ncc.system.files.writing import folder_lock, write_atomically

if TYPE_CHECKING:
    import torch

T = TypeVar("T")

_TIMEOUT = timedelta(hours=6)
"""Time limit for other ranks: longer than one may compile programs. torchrun ends them sooner if one dies."""


def _group() -> Any:
    """``torch.distributed`` inside a process group, else None."""
    from torch import distributed

    return distributed if distributed.is_initialized() else None


def rank_and_world() -> tuple[int, int]:
    """This process's rank and the number of ranks; (0, 1) outside a process group."""
    group = _group()
    return (group.get_rank(), group.get_world_size()) if group else (0, 1)


def is_first_rank() -> bool:
    """True unless torchrun started this process with a rank above 0, inside a process group or not."""
    return os.environ.get("RANK", "0") == "0"


def barrier() -> None:
    """Wait for all ranks."""
    if group := _group():
        group.barrier()


def sum_over_ranks(tensors: Sequence["torch.Tensor"]) -> None:
    """Replace each tensor with its sum over ranks."""
    if group := _group():
        for tensor in tensors:
            group.all_reduce(tensor)


def all_gather_object(value: T) -> list[T]:
    """Values of all ranks, on all of them."""
    values: list[Any] = [value] * rank_and_world()[1]
    if group := _group():
        group.all_gather_object(values, value)
    return values


def all_gather_rows(rows: "torch.Tensor", sizes: Sequence[int]) -> "torch.Tensor":
    """Concatenate (sizes[rank], …) rows of all ranks, on all of them; at least one rank must have rows."""
    import torch

    if len(sizes) == 1:
        return rows
    padded = rows.new_zeros((max(sizes), *rows.shape[1:]))
    padded[: len(rows)] = rows
    parts = [torch.empty_like(padded) for _ in sizes]
    _group().all_gather(parts, padded)
    return torch.cat([part[:size] for part, size in zip(parts, sizes, strict=True)])


def broadcast_result(fn: Callable[[], T]) -> T:
    """Result of a function that only rank 0 calls, or its AssetError, on all ranks."""
    group = _group()
    if not group:
        return fn()
    box: list[Any] = [None, None]
    if group.get_rank() == 0:
        try:
            box[0] = fn()
        except AssetError as error:
            box[1] = str(error)
    group.broadcast_object_list(box)
    if box[1] is not None:
        raise AssetError(box[1])
    return box[0]


def check_consistent(properties: Mapping[str, str]) -> None:
    """Raise InputError on all ranks if they differ in a property, such as an option."""
    first, *others = all_gather_object(dict(properties))
    for rank, other in enumerate(others, 1):
        for name in sorted(first.keys() | other.keys()):
            if first.get(name) != other.get(name):
                raise InputError(
                    f"rank {rank} has {name} {other.get(name)}, rank 0 has {first.get(name)}; "
                    "all ranks need the same options and files"
                )


def share_files(paths: Sequence[Path]) -> None:
    """Wait for all ranks, then send each of the files, named alike on all ranks, to the ranks that lack it."""
    group = _group()
    if not group:
        return
    group.barrier()
    existing = all_gather_object([path.exists() for path in paths])
    for path, exists in zip(paths, zip(*existing, strict=True), strict=True):
        if any(exists) and not all(exists):
            source = exists.index(True)
            box = [read_whole(path) if group.get_rank() == source else None]
            group.broadcast_object_list(box, src=source)
            if not exists[group.get_rank()]:
                assert box[0] is not None
                write_atomically(path, box[0])


@contextmanager
def process_group(device: str = "cpu", init_method: str = "env://") -> Iterator[str]:
    """Join the ranks that torchrun started, if any, with gloo or NCCL, and yield this rank's device."""
    import torch
    import torch.distributed.nn.functional  # see below
    from torch import distributed

    if device.partition(":")[0] not in ("cpu", "cuda"):
        raise InputError(f"device is {device!r}; expected cpu or cuda")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise NccError(f"device {device}: this torch sees no CUDA device; use cpu")
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        yield device
        return
    gpu = None
    if device.startswith("cuda"):
        local_rank, num_gpus = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
        if local_rank >= num_gpus:
            raise NccError(
                f"rank {os.environ['RANK']} has local rank {local_rank}, but torch sees {num_gpus} GPUs; "
                f"start {num_gpus} ranks there: torchrun --nproc-per-node {num_gpus}"
            )
        gpu = torch.device("cuda", local_rank)
        device = str(gpu)
        torch.cuda.set_device(gpu)
    # torch.optim imports torch.distributed.nn.functional, whose default arguments keep the process group that exists
    # then. Imported before, it lets the group go, and with it gloo's threads, which would otherwise sometimes abort the
    # process when the interpreter ends.
    backend = "cpu:gloo,cuda:nccl" if gpu else "gloo"
    distributed.init_process_group(backend, init_method, timeout=_TIMEOUT, device_id=gpu)
    try:
        yield device
    finally:
        distributed.destroy_process_group()


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Set torch's thread count temporarily."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def training_lock(folder: Path | None) -> AbstractContextManager[None]:
    """Lock a folder on rank 0; raise OutputError if another training writes to it."""
    return folder_lock(folder, wait_s=0) if folder and rank_and_world()[0] == 0 else nullcontext()
