"""Sums of trees as arrays: converted from scikit-learn's and evaluated in NumPy, so that answers don't need it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats, Ints
from ncc.errors import InputError
from ncc.learning.heads.files import Stored

_MAX_VALUE = 1e6


@dataclass(frozen=True, eq=False)
class Boosted:
    """Sums of trees, one for each target; the nodes of all trees are concatenated."""

    base: Annotated[Floats, Stored(bound=_MAX_VALUE)]  # (targets,) float64 to which the trees add
    root: Annotated[Ints, Stored("i4")]  # (trees,) first node of each tree
    target: Annotated[Ints, Stored("i1")]  # (trees,) target that each adds to
    column: Annotated[Ints, Stored("i2")]  # (nodes,) column that a node compares; -1 for a leaf
    threshold: Annotated[Floats, Stored("f4", _MAX_VALUE)]  # (nodes,) float64; values up to it go to the next node
    right: Annotated[Ints, Stored("i4")]  # (nodes,) int, node to the right
    value: Annotated[Floats, Stored("f4", _MAX_VALUE)]  # (nodes,) float64 of leaves

    def __post_init__(self) -> None:
        """Check that every path ends, since children come after their parents."""
        nodes, trees = len(self.column), len(self.root)
        shapes = {array.shape for array in (self.column, self.threshold, self.right, self.value)}
        if not nodes or shapes != {(nodes,)} or {self.root.shape, self.target.shape} != {(trees,)}:
            raise InputError("the trees' arrays have different lengths")
        inner = np.flatnonzero(self.column >= 0)
        right = self.right[inner]
        if (right <= inner + 1).any() or (right >= nodes).any() or inner[-1:].tolist() == [nodes - 1]:
            raise InputError("a tree has no end")
        if (self.root < 0).any() or (self.root >= nodes).any():
            raise InputError("the root of a tree is out of range")
        if self.base.ndim != 1 or (self.target < 0).any() or (self.target >= self.num_targets).any():
            raise InputError("the target of a tree is out of range")

    @property
    def num_targets(self) -> int:
        """Number of targets."""
        return len(self.base)

    def predict(self, columns: Floats) -> Floats:
        """(n, targets) float64."""
        result = np.tile(self.base, (len(columns), 1))
        for row, said in zip(columns, result, strict=True):
            node = self.root.copy()
            while (inner := self.column[node] >= 0).any():
                at = node[inner]
                node[inner] = np.where(row[self.column[at]] <= self.threshold[at], at + 1, self.right[at])
            np.add.at(said, self.target, self.value[node])
        return result


def trees_of(fitted: Sequence[tuple[int, Any, float]], columns: Ints, targets: int) -> Boosted:
    """The trees of scikit-learn's ``HistGradientBoosting`` models of numeric columns.

    Arrays:
        columns: (k,) numbers of the columns that the models were fitted on.
    """
    base = np.zeros(targets)
    parts: list[tuple[int, float, NDArray[Any]]] = []
    for number, model, share in fitted:
        base[number] += share * float(np.ravel(model._baseline_prediction)[0])
        parts += [(number, share, predictor.nodes) for (predictor,) in model._predictors]
    starts = np.cumsum([0, *(len(nodes) for *_, nodes in parts)])
    nodes = np.concatenate([nodes for *_, nodes in parts])
    sizes = np.diff(starts)
    offset = np.repeat(starts[:-1], sizes)
    leaf = nodes["is_leaf"].astype(bool)
    assert (nodes["left"] + offset == np.arange(len(nodes)) + 1)[~leaf].all(), "left children follow their parents"
    shares = np.repeat([share for _, share, _ in parts], sizes)
    return Boosted(
        base=base,
        root=starts[:-1].astype(np.int64),
        target=np.array([number for number, *_ in parts], np.int64),
        column=np.where(leaf, -1, columns[np.where(leaf, 0, nodes["feature_idx"])]).astype(np.int64),
        threshold=np.where(leaf, 0, nodes["num_threshold"]).astype(np.float64),
        right=np.where(leaf, 0, nodes["right"] + offset).astype(np.int64),
        value=np.where(leaf, nodes["value"] * shares, 0).astype(np.float64),
    )
