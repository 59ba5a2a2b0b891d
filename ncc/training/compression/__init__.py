"""Ways of sending gradients in fewer bytes, as communication hooks of torch's DistributedDataParallel."""

import torch

from ncc.training.compression.base import Compression
from ncc.training.compression.halved import Halved
from ncc.training.compression.low_rank import LowRank
from ncc.training.compression.quantized import Quantized
from ncc.training.compression.sparse import TopK
from ncc.training.config import TrainingConfig
from ncc.training.exchange import Exchange

__all__ = ["Compression", "make_compression"]


def make_compression(config: TrainingConfig, exchange: Exchange) -> Compression | None:
    """The compression that a configuration names; None where gradients are sent as they are.

    Args:
        config: How to train.
        exchange: Where bytes are counted.
    """
    match config.compression:
        case "fp16" | "bf16" as name:
            return Halved(exchange, {"fp16": torch.float16, "bf16": torch.bfloat16}[name])
        case "int8" | "int4" as name:
            return Quantized(exchange, {"int8": 8, "int4": 4}[name], config.seed)
        case "topk":
            return TopK(exchange, config.topk_share)
        case "powersgd":
            return LowRank(exchange, config.seed)
        case _:
            return None
