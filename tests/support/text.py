"""Cases worked out by hand, which stand as lines of text beside the goldens."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "golden" / "text"


def rows(name: str) -> list[list[str]]:
    """The lines of a file but for comments: of each its parts, between ``;;``, in which ``\\\\`` ends a line."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line and not line.startswith("# ")]
    return [[part.strip().replace(" \\\\ ", "\n") for part in f" {line} ".split(" ;; ")] for line in kept]
