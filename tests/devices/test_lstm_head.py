"""The device head of LSTMs: its answers, and its files."""

import json
from pathlib import Path

import numpy as np
import pytest

from ncc.devices import explain_device, predict_device, predict_device_curve
from ncc.devices.files import load_head, save_head
from ncc.devices.lstm_head import NUM_AUXILIARY, LSTMMapperHead
from ncc.embedding import load_embedding
from ncc.encoder.config import EncoderConfig, HeadConfig
from ncc.encoder.inference import Ensemble, NumpyNetwork
from ncc.encoder.network import EncoderNetwork
from ncc.errors import AssetError, InputError

KERNEL = b"""define spir_kernel void @k(ptr addrspace(1) %p) {
  %x = load float, ptr addrspace(1) %p, align 4
  store float %x, ptr addrspace(1) %p, align 4
  ret void
}
"""


def _head(members: int = 2) -> LSTMMapperHead:
    """With random weights."""
    embedding = load_embedding()
    config = EncoderConfig(hidden=4, pooling=("last", "mean", "max"))
    networks = [
        EncoderNetwork(embedding.vectors[:1], 2, config, HeadConfig(dense=5), NUM_AUXILIARY) for _ in range(members)
    ]
    return LSTMMapperHead(
        ensemble=Ensemble(tuple(NumpyNetwork.from_arrays(network.to_arrays(), config) for network in networks)),
        mean=np.array([10.0, 5.0]),
        std=np.array([3.0, 1.0]),
        reference=np.exp(np.random.default_rng(0).uniform(3, 15, (6, 2))),
        transfer_range=(100.0, 1e6),
        embedding_id=embedding.fingerprint,
        platform="amd",
        about={"note": "random"},
    )


def test_it_answers_as_the_other_head_does() -> None:
    head = _head()
    (answer,) = predict_device(KERNEL, head=head, transfer_bytes=1e4, wgsize=64)
    (covered,) = predict_device(KERNEL, head=head)
    assert answer.platform == covered.platform == "amd"
    low, high = answer.interval
    assert low < answer.speedup_gpu_over_cpu < high
    assert 0.5 <= answer.confidence <= 1
    assert answer.verdict == ("undecided" if answer.interval[0] < 1 < answer.interval[1] else answer.device)
    assert answer.interval != covered.interval
    (curve,) = predict_device_curve(KERNEL, head=head, wgsize=64, transfer_bytes=[1e3, 1e4, 1e5])
    assert curve.speedup_gpu_over_cpu[1] == pytest.approx(answer.speedup_gpu_over_cpu)
    assert curve.seen == (100.0, 1e6)
    (reason,) = explain_device(KERNEL, head=head, transfer_bytes=1e4, wgsize=64)
    assert reason.log_ratio == pytest.approx(np.log(answer.speedup_gpu_over_cpu))
    assert any(share.effect for share in reason.lines)
    with pytest.raises(InputError, match="the head was trained on 'amd'"):
        predict_device(KERNEL, head=head, platform="nvidia")
    with pytest.raises(InputError, match="transfer is -1"):
        predict_device(KERNEL, head=head, transfer_bytes=-1)


def test_a_head_is_read_as_it_was_written(tmp_path: Path) -> None:
    head = _head()
    save_head(head, tmp_path)
    again = load_head(tmp_path)
    assert isinstance(again, LSTMMapperHead)
    assert (again.platform, again.transfer_range, again.about) == (head.platform, head.transfer_range, head.about)
    assert predict_device(KERNEL, head=again) == predict_device(KERNEL, head=head)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("members", 3),
        ("members", "2"),
        ("encoder", None),
        ("encoder", {"hidden": 4}),
        ("transfer_range", [5, 1]),
        ("transfer_range", None),
        ("transfer_range", [1]),
        ("platform", None),
        ("model", 5),
        ("model", "gp"),
        ("format_version", 1),
    ],
)
def test_a_card_that_does_not_fit_is_refused(field: str, value: object, tmp_path: Path) -> None:
    save_head(_head(), tmp_path)
    card = json.loads((tmp_path / "head.json").read_text())
    (tmp_path / "head.json").write_text(json.dumps(card | {field: value}))
    with pytest.raises(AssetError):
        load_head(tmp_path)


@pytest.mark.parametrize("name", ["mean", "std", "reference", "member0.dense.bias", "member1.norm.running_var"])
@pytest.mark.parametrize("value", [np.nan, -np.inf, 1e30])
def test_numbers_out_of_range_are_refused(name: str, value: float, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    save_head(_head(), tmp_path)
    card = json.loads((tmp_path / "head.json").read_text())
    card.pop("tensors_sha256")
    (tmp_path / "head.json").write_text(json.dumps(card))
    tensors = load_file(tmp_path / "head.safetensors")
    tensors[name].flat[0] = value
    save_file(tensors, tmp_path / "head.safetensors")
    if name == "reference" and value == 1e30:
        load_head(tmp_path)  # no limit but that it is finite
        return
    with pytest.raises(AssetError):
        load_head(tmp_path)
