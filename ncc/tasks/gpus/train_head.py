"""``ncc train gpu``: a head for one card, from gpuFLOPBench's profiles or a user's table."""

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ncc.errors import InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.learning.data import registry
from ncc.system.files.models import write_atomically
from ncc.system.files.writing import check_folder
from ncc.tasks.gpus.cards import MEASURED, find_card
from ncc.tasks.gpus.head import GpuHead, save_gpu_head
from ncc.tasks.gpus.measured import COUNTING_VERSION, Launches, measured_launches
from ncc.tasks.gpus.sources import make_options
from ncc.tasks.gpus.tables import read_launches
from ncc.tasks.gpus.train import fit_gpus


def train_gpu(
    output: str | Path | None = None,
    *,
    table: str | Path | None = None,
    sources: str | Path | None = None,
    gpu: str = MEASURED,
    options: CompileOptions | None = None,
    seed: int = 204,
    data: str | None = None,
    about: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> GpuHead:
    """Fits a head that predicts launches on one card.

    Args:
        output: Folder that gets the head.
        table: Measured launches, see `ncc.tasks.gpus.tables.read_launches`; default gpuFLOPBench's, of an RTX 3080.
        sources: Folder of the sources that the table's are relative to; default the table's folder.
        gpu: The card that the table was measured on.
        options: How the sources are compiled; default by the Makefiles beside them.
        seed: Of folds and of training.
        data: Folder of datasets; default NCC_DATA, then the cache.
        about: What else the card is to say, such as the command.
        progress: Called with a line of text now and then.

    Raises:
        InputError: There is no such card or folder, the table is none that ncc reads, or it has fewer than four
            programs whose kernels are found.
        DataError: The files of gpuFLOPBench are missing or damaged.
        OutputError: The folder can't be written.
    """
    folder = None if output is None else Path(output)
    check_folder(folder)
    card = find_card(gpu)
    if table is None:
        launches = published_launches(data, progress)
    else:
        base = Path(sources) if sources else Path(table).parent
        if not base.is_dir():
            raise InputError(f"{base}: no such folder of sources")
        how = (lambda _folder: options) if options else make_options
        launches = measured_launches(read_launches(table), base, card, how, progress)
    told = {
        "launches": int(np.sum(~launches.is_told)),
        "kernels": len(set(zip(launches.program.tolist(), launches.kernel.tolist(), strict=True))),
        "programs": len(set(launches.program.tolist())),
    }
    head = fit_gpus(launches, card.name, seed=seed, about={**told, "seed": seed, **(about or {})})
    if folder:
        save_gpu_head(head, folder)
    return head


def published_launches(data: str | None = None, progress: Callable[[str], None] | None = None) -> Launches:
    """CUDA launches of gpuFLOPBench, kept in the cache until `ncc.tasks.gpus.measured.COUNTING_VERSION` changes.

    Raises:
        DataError: The files are missing or damaged.
    """
    profile = registry.locate("gpuflop", "profile.csv", data)
    key = hashlib.sha256(profile.read_bytes() + f"counted by {COUNTING_VERSION}".encode()).hexdigest()
    kept = registry.cache_folder() / "gpus" / f"launches-{key[:32]}.npz"
    names = [name for name in Launches.__dataclass_fields__ if name != "columns"]
    if kept.exists():
        with np.load(kept, allow_pickle=False) as arrays:
            return Launches(columns=tuple(arrays["columns"].tolist()), **{name: arrays[name] for name in names})
    sources = registry.extracted("gpuflop", "sources.tar.xz", data)
    launches = measured_launches(read_launches(profile), sources, find_card(MEASURED), make_options, progress)
    buffer = io.BytesIO()
    np.savez(buffer, columns=np.array(launches.columns), **{name: getattr(launches, name) for name in names})
    write_atomically(kept, buffer.getvalue())
    return launches
