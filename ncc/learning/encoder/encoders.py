"""Encoders of either kind: the linear one that ships, and the LSTM that ``ncc train encoder --model lstm`` makes."""

import os
from pathlib import Path

from ncc.learning.encoder.linear import (
    LinearEncoder,
    load_linear_encoder,
    load_shipped_encoder,
    save_linear_encoder,
)
from ncc.learning.encoder.lstm_encoder import LSTMEncoder, load_lstm_encoder, save_lstm_encoder

AnyEncoder = LinearEncoder | LSTMEncoder | str | os.PathLike[str]
"""An encoder, or the folder that it is in."""


def load_encoder(folder: AnyEncoder | None = None) -> LinearEncoder | LSTMEncoder:
    """Reads an encoder of functions and modules.

    Args:
        folder: Written by `save_encoder` or ``ncc train encoder``; default the one that ships with ncc. An encoder is
            returned as it is.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    if isinstance(folder, LinearEncoder | LSTMEncoder):
        return folder
    if folder is None:
        return load_shipped_encoder()
    return load_lstm_encoder(folder) if (Path(folder) / "lstm.json").exists() else load_linear_encoder(folder)


def save_encoder(encoder: LinearEncoder | LSTMEncoder, folder: str | os.PathLike[str]) -> None:
    """Writes an encoder made by `ncc.train_encoder`.

    Args:
        encoder: To be written.
        folder: Gets ``encoder.safetensors`` and ``encoder.json``, or ``lstm.safetensors`` and ``lstm.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    if isinstance(encoder, LSTMEncoder):
        save_lstm_encoder(encoder, folder)
    else:
        save_linear_encoder(encoder, folder)
