"""Reports of an evaluation: a self-contained HTML page, and tables for a terminal."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncc.system.files.models import write_output

if TYPE_CHECKING:
    from ncc_lab.evaluation import Comparison
    from ncc_lab.scaling.sweep import ScalingSweep

__all__ = ["write_report"]


def write_report(
    result: "Comparison[Any] | ScalingSweep", path: str | Path, *, about: dict[str, Any] | None = None
) -> None:
    """Writes a self-contained page with tables and figures of an evaluation.

    Args:
        result: From a verb that compares methods, such as `evaluate_devmap`, or from `bench_scaling`.
        path: Of the .html file.
        about: What was run, such as command, hardware and versions.

    Raises:
        OutputError: The file can't be written.
    """
    write_output(Path(path), result.to_page(about or {}).encode())
