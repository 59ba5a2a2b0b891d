"""Heads of thread coarsening, whichever model they are of: lines, which is what ships, or an ensemble of LSTMs."""

from pathlib import Path

from ncc.coarsening.head import FORMAT_VERSION, CoarseningHead, load_coarsening_head, save_coarsening_head
from ncc.coarsening.lstm_head import LSTMCoarseningHead, load_lstm_coarsening_head, save_lstm_coarsening_head
from ncc.errors import AssetError
from ncc.runtime.storage import read_json

__all__ = ["AnyCoarseningHead", "load_head", "save_head"]

AnyCoarseningHead = CoarseningHead | LSTMCoarseningHead


def load_head(folder: str | Path) -> AnyCoarseningHead:
    """Reads what `save_head` wrote.

    Raises:
        AssetError: A file is missing, damaged, or of another format version, or there is no such model.
    """
    model = read_json(Path(folder) / "head.json", FORMAT_VERSION).get("model", "line")
    if model not in ("line", "lstm"):
        raise AssetError(f"{folder}: is of model {model!r:.40}; expected line or lstm")
    return load_lstm_coarsening_head(folder) if model == "lstm" else load_coarsening_head(folder)


def save_head(head: AnyCoarseningHead, folder: str | Path) -> None:
    """Writes ``head.safetensors`` and ``head.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    if isinstance(head, LSTMCoarseningHead):
        save_lstm_coarsening_head(head, folder)
    else:
        save_coarsening_head(head, folder)
