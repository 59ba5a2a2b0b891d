"""`CodeVectorizer`: ncc's vectors as a scikit-learn transformer, for pipelines."""

import os
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from ncc.arrays import Floats32
from ncc.errors import InputError, NccError
from ncc.ir.frontend.options import CompileOptions
from ncc.learning.embedding.embedding import AnyEmbedding
from ncc.learning.encoder.pooling import AnyEncoder, Pooler, load_pooler
from ncc.verbs.embed import embed_many
from ncc.verbs.types import Source, document


@document
@dataclass(eq=False, repr=False)
class CodeVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Turns code, as files or texts, into vectors of whole programs, without fitting.

    Args:
        on_error: How to treat unreadable programs: "raise" an error, or return "zeros" as their vectors.

    Examples:
        >>> import ncc
        >>> texts = ["define void @f() {\n  ret void\n}\n", "define i32 @g(i32 %x) {\n  ret i32 %x\n}\n"]
        >>> ncc.CodeVectorizer().fit_transform(texts).shape
        (2, 256)
    """

    pooling: str | None = None
    _: KW_ONLY
    embedding: AnyEmbedding | None = None
    encoder: AnyEncoder | None = None
    options: CompileOptions | None = None
    language: str | None = None
    jobs: int = 1
    on_error: Literal["raise", "zeros"] = "raise"

    def fit(self, sources: Iterable[Source], y: Any = None) -> Self:  # noqa: ARG002
        """Check the parameters; sources are not read.

        Raises:
            InputError: A parameter is wrong, or ``sources`` is one text.
        """
        _check(sources)
        if self.on_error not in ("raise", "zeros"):
            raise InputError(f"on_error is {self.on_error!r}; expected 'raise' or 'zeros'")
        self.pooler_id_ = self._pooler().id
        return self

    def transform(self, sources: Iterable[Source]) -> Floats32:
        """Return (num_sources, dim) float32 vectors, in the order of the sources.

        Raises:
            NccError: A program can't be read, and ``on_error`` is "raise".
            InputError: The embedding or encoder has changed since it was fitted.
        """
        _check(sources)
        pooler = self._pooler()
        if pooler.id != getattr(self, "pooler_id_", pooler.id):
            raise InputError(f"was fitted with {self.pooler_id_}; this ncc has {pooler.id}")
        options = self.get_params(deep=False)
        on_error = options.pop("on_error")
        rows = []
        for result in embed_many(sources, **options):
            if isinstance(result, NccError) and on_error == "raise":
                raise result
            rows.append(np.zeros(pooler.dim) if isinstance(result, NccError) else result.vector)
        return np.array(rows, np.float32).reshape(-1, pooler.dim)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the names of columns: the pooling and an index from 0."""
        pooler = self._pooler()
        return np.array([f"{pooler.name}{index}" for index in range(pooler.dim)], object)

    def _pooler(self) -> Pooler:
        return load_pooler(self.pooling, self.embedding, self.encoder)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.requires_fit = False
        return tags


def _check(sources: Any) -> None:
    if isinstance(sources, str | bytes | os.PathLike):
        raise InputError("sources is one path or text; expected a list of them")
