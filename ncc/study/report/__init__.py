"""Reports of an evaluation: an HTML page that needs no other file and no net, and tables for a terminal."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncc.runtime.storage import write_output

if TYPE_CHECKING:
    from ncc.study.evaluation import Comparison
    from ncc.study.scaling.sweep import ScalingSweep

__all__ = ["write_report"]


def write_report(
    result: "Comparison[Any] | ScalingSweep",
    path: str | Path,
    *,
    about: dict[str, Any] | None = None,
    data: str | None = None,
) -> None:
    """Writes a page with tables and pictures of what was measured; it needs no other file and no net.

    Args:
        result: From `evaluate_devmap`, `evaluate_coarsening`, `evaluate_classification` or `bench_scaling`.
        path: Of the .html file.
        about: What was run, such as command, hardware and versions.
        data: Folder of datasets; default NCC_DATA, then the cache.

    Raises:
        OutputError: The file can't be written.
    """
    write_output(Path(path), result.to_page(about or {}, data).encode())
