"""Sums of trees as arrays: converted from scikit-learn's, and walked in NumPy so that answers don't need it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats, Ints

TREE_DTYPES = {
    "base": "f8", "root": "i4", "target": "i1", "column": "i2", "threshold": "f4", "right": "i4", "value": "f4",
}  # fmt: skip
"""Types of the arrays in files."""
_LARGEST = 1e6


@dataclass(frozen=True, eq=False)
class Boosted:
    """Sums of trees, one for each target; the nodes of all trees stand in one row.

    Attributes:
        base: (targets,) float64 to which the trees add.
        root: (trees,) first node of each tree.
        target: (trees,) what each adds to.
        column: (nodes,) column that a node asks about; -1 for a leaf.
        threshold: (nodes,) float64; at most that goes left, to the next node.
        right: (nodes,) int, node to the right.
        value: (nodes,) float64 of leaves.
    """

    base: Floats
    root: Ints
    target: Ints
    column: Ints
    threshold: Floats
    right: Ints
    value: Floats

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


def read_trees(arrays: Mapping[str, NDArray[Any]], targets: int, columns: int) -> Boosted:
    """Trees from the arrays of a file."""
    nodes, trees = len(arrays["column"]), len(arrays["root"])
    shapes = {"base": targets, "root": trees, "target": trees}
    read = {name: _read(arrays[name], kind[0], shapes.get(name, nodes)) for name, kind in TREE_DTYPES.items()}
    model = Boosted(**read)
    inner = np.flatnonzero(model.column >= 0)
    # children stand after their parents, so that every walk ends
    if not nodes or (model.right[inner] <= inner + 1).any() or (model.right[inner] >= nodes).any():
        raise ValueError("a tree that does not end")
    if (model.root < 0).any() or (model.root >= nodes).any() or (model.column >= columns).any():
        raise ValueError("a tree of other columns")
    if (model.target < 0).any() or (model.target >= targets).any() or (len(inner) and inner[-1] == nodes - 1):
        raise ValueError("a tree of another target")
    return model


def _read(array: NDArray[Any], kind: str, length: int) -> NDArray[Any]:
    if array.dtype.kind != kind or array.shape != (length,):
        raise ValueError(f"an array is {array.dtype} of shape {array.shape}; expected {kind} of {(length,)}")
    if kind == "i":
        return array.astype(np.int64)
    with np.errstate(invalid="ignore"):
        result = array.astype(np.float64)
    if not (np.abs(result) <= _LARGEST).all():
        raise ValueError(f"a number is not finite, or beyond {_LARGEST:g}")
    return result
