"""Vocabulary with back-off, co-occurrence counts, the exact skip-gram, and the embedding table."""

from ncc.learning.embedding.backoff import BackoffLevel, generalise
from ncc.learning.embedding.config import SkipGramConfig
from ncc.learning.embedding.counts import CorpusCounts, CountsBuilder, load_counts, save_counts
from ncc.learning.embedding.embedding import (
    AnyEmbedding,
    Embedding,
    Lookup,
    Neighbor,
    Neighbors,
    compose_missing,
    load_embedding,
    save_embedding,
)
from ncc.learning.embedding.extend import extend_embedding
from ncc.learning.embedding.gensim import GensimConfig
from ncc.learning.embedding.skipgram import SkipGramResult, train_skipgram
from ncc.learning.embedding.train import fit_embedding, load_abstraction, load_corpora
from ncc.learning.embedding.vocabulary import Vocabulary, build_vocabulary

__all__ = [
    "AnyEmbedding",
    "BackoffLevel",
    "CorpusCounts",
    "CountsBuilder",
    "Embedding",
    "GensimConfig",
    "Lookup",
    "Neighbor",
    "Neighbors",
    "SkipGramConfig",
    "SkipGramResult",
    "Vocabulary",
    "build_vocabulary",
    "compose_missing",
    "extend_embedding",
    "fit_embedding",
    "generalise",
    "load_abstraction",
    "load_corpora",
    "load_counts",
    "load_embedding",
    "save_counts",
    "save_embedding",
    "train_skipgram",
]
