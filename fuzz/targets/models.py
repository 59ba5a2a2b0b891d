"""Folders of models: embedding, device mapper, coarsening head, classifier. What loads must answer, with numbers."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import ncc
from fuzz import samples
from fuzz.folders import Files, mutate_files, put, read_folder, unpack
from fuzz.targets import Target
from ncc.ir.reader.reader import read_module
from ncc.learning.embedding.embedding import load_embedding
from ncc.learning.programs.table import EncodedProgram
from ncc.system.files.text import MAX_BYTES
from ncc.tasks.classification.head import FORMAT as CLASSIFIERS
from ncc.tasks.coarsening.head import FORMAT as COARSENING_HEADS
from ncc.tasks.coarsening.head import LSTMHead
from ncc.tasks.devices.head import FORMAT as DEVICE_HEADS

__all__ = ["TARGETS"]

_IR = b"define void @f(ptr %p) {\n  %x = load i32, ptr %p, align 4\n  store i32 %x, ptr %p\n  ret void\n}\n"


def saved(save: Callable[[Path], None]) -> Files:
    """The files that are written into an empty folder; the card forgets the hash of its tensors, as a forger would."""
    with TemporaryDirectory() as folder:
        save(Path(folder))
        for path in Path(folder).glob("*.json"):
            about = json.loads(path.read_bytes())
            about.pop("tensors_sha256", None)
            path.write_text(json.dumps(about, ensure_ascii=False))
        return read_folder(Path(folder))


def _embeddings() -> list[Files]:
    return [saved(lambda folder: samples.small_embedding(min_count=8).save(folder))]


def _load_embedding(data: bytes) -> None:
    embedding = load_embedding(put(unpack(data)))
    module = read_module(_IR, abstraction=embedding.abstraction)
    lookup = embedding.look_up([*module.texts, "no such statement", ""])
    assert (lookup.word >= 0).all()
    assert np.isfinite(embedding.vectors[lookup.word]).all()
    for text in module.texts:
        assert all(np.isfinite(near.similarity) for near in embedding.nearest(text, 3))
        assert np.isfinite(embedding.vector(text)).all()
    assert len(embedding.fingerprint) == 16
    assert isinstance(embedding.card, dict)


def _mappers() -> list[Files]:
    heads = (samples.lstm_times_head(), samples.times_head())
    return [saved(lambda folder, head=head: DEVICE_HEADS.save(head, folder)) for head in heads]  # type: ignore[misc]


def _load_mapper(data: bytes) -> None:
    head = DEVICE_HEADS.load(put(unpack(data)))
    assert np.isfinite(head.transfer_range).all()
    for sizes in ((None, None), (1e5, 64.0), (0.0, 1.0), (MAX_BYTES, 65536.0)):
        given = np.array([[*(1.0 if size is None else size for size in sizes), np.nan]])
        [answer] = head.predict(samples.kernel_inputs(), given)
        assert np.isfinite([answer.speedup_gpu_over_cpu, *answer.interval]).all()
        assert 0.5 <= answer.confidence <= 1


def _coarsenings() -> list[Files]:
    heads = (samples.coarsening_head(), samples.lstm_coarsening_head())
    return [saved(lambda folder, head=head: COARSENING_HEADS.save(head, folder)) for head in heads]  # type: ignore[misc]


def _load_coarsening(data: bytes) -> None:
    head = COARSENING_HEADS.load(put(unpack(data)))
    kernel: Any = np.ones((5, samples.DIM), np.float32) if isinstance(head, LSTMHead) else 0.5
    for device in (None, *head.devices[:3]):
        assert not np.isnan(head.speedups(kernel, device)).any()


def _classifiers() -> list[Files]:
    return [saved(lambda folder: CLASSIFIERS.save(samples.classifier_head(), folder))]


def _load_classifier(data: bytes) -> None:
    head = CLASSIFIERS.load(put(unpack(data)))
    empty = EncodedProgram(np.zeros(1, np.int32), np.zeros(0, np.uint32), np.zeros(2, np.int32))
    num_words = len(head.network.row)
    views = [empty, samples.encoded_program(num_words)] if num_words else []
    for view in views:
        answer = head.predict(view)
        assert np.isfinite(answer).all()
        assert abs(answer.sum() - 1) < 1e-6
        assert len(answer) == len(head.classes)
    assert set(head.levels) <= {"-O0", "-O1", "-O2", "-O3", "-Os", "-Oz", "-Ofast"}


_KERNEL = (
    b"define spir_kernel void @f(ptr addrspace(1) %p) {\n  %i = call i64 @_Z13get_global_idj(i32 0)\n"
    b"  %q = getelementptr inbounds float, ptr addrspace(1) %p, i64 %i\n"
    b"  %x = load float, ptr addrspace(1) %q\n"
    b"  %y = fmul float %x, 2.0\n  store float %y, ptr addrspace(1) %q, align 4\n  ret void\n}\n"
    b"declare i64 @_Z13get_global_idj(i32)\n"
)


def _predict_device(data: bytes) -> None:
    """As a user of a stranger's head and embedding would."""
    folder = put(unpack(data))
    embedding = load_embedding(folder / "embedding")
    head = DEVICE_HEADS.load(folder / "head")
    if head.embedding_id:
        head = replace(head, embedding_id=embedding.fingerprint)
    for answer in ncc.predict_device(_KERNEL, head=head, embedding=embedding):
        assert np.isfinite([answer.confidence, answer.speedup_gpu_over_cpu, *answer.interval]).all()


def _predict_coarsening(data: bytes) -> None:
    head = COARSENING_HEADS.load(put(unpack(data)))
    if isinstance(head, LSTMHead):
        head = replace(head, embedding_id=load_embedding().fingerprint)
    for answer in ncc.predict_coarsening(_KERNEL, head=head):
        assert np.isfinite([answer.speedup, *answer.interval, *answer.speedups.values()]).all()


def _pairs() -> list[Files]:
    embedding = _embeddings()[0]
    return [
        {f"embedding/{name}": content for name, content in embedding.items()}
        | {f"head/{name}": content for name, content in head.items()}
        for head in _mappers()
    ]


TARGETS = (
    Target(name="embedding", seeds=_embeddings, mutate=mutate_files, run=_load_embedding, weight=14),
    Target(name="mapper", seeds=_mappers, mutate=mutate_files, run=_load_mapper, weight=14),
    Target(name="coarsening", seeds=_coarsenings, mutate=mutate_files, run=_load_coarsening, weight=10),
    Target(name="classifier", seeds=_classifiers, mutate=mutate_files, run=_load_classifier, weight=14),
    Target(name="predict-device", seeds=_pairs, mutate=mutate_files, run=_predict_device, weight=4),
    Target(
        name="predict-coarsening",
        seeds=lambda: _coarsenings()[:1],
        mutate=mutate_files,
        run=_predict_coarsening,
        weight=4,
    ),
)
