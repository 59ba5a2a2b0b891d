"""Skip-gram with the full softmax as one dense matrix, its gradient by autograd."""

import numpy as np
import torch
from numpy.typing import NDArray


def pair_matrix(
    center: NDArray[np.int32], context: NDArray[np.int32], weight: NDArray[np.float64], num_words: int
) -> NDArray[np.float64]:
    """(num_words, num_words) share of each pair of a center and a context."""
    shares = np.zeros((num_words, num_words))
    np.add.at(shares, (center, context), weight / weight.sum())
    return shares


def dense_loss(
    shares: NDArray[np.float64], vectors: NDArray[np.float32], contexts: NDArray[np.float32]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Cross-entropy in nats a pair, and its gradient by vectors and by contexts."""
    u, v = (torch.tensor(matrix, dtype=torch.float64, requires_grad=True) for matrix in (vectors, contexts))
    loss = -(torch.from_numpy(shares) * torch.log_softmax(u @ v.T, dim=1)).sum()
    loss.backward()  # type: ignore[no-untyped-call]
    assert u.grad is not None
    assert v.grad is not None
    return loss.item(), u.grad.numpy(), v.grad.numpy()


def entropy(shares: NDArray[np.float64]) -> float:
    """What no model can be below: the entropy of contexts given their center."""
    given = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    return -float((shares * np.log(np.where(shares > 0, given, 1))).sum())
