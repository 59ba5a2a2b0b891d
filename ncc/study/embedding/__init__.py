"""Intrinsic evaluation of an embedding: analogies, the distance test, coverage, neighbours and pictures."""

from ncc.study.embedding.analogies import GroupScore, KindScore, score_analogies, score_groups
from ncc.study.embedding.coverage import Coverage, Miss, evaluate_coverage, measure_coverage
from ncc.study.embedding.distance import CategoryScore, DistanceScore, score_distance
from ncc.study.embedding.evaluation import DEFAULT_STATEMENTS, IntrinsicScores, evaluate_embedding
from ncc.study.embedding.picture import FAMILIES, Projection, draw_embedding, family_of, project, write_html, write_png
from ncc.study.embedding.questions import QuestionSet, generate_questions

__all__ = [
    "DEFAULT_STATEMENTS",
    "FAMILIES",
    "CategoryScore",
    "Coverage",
    "DistanceScore",
    "GroupScore",
    "IntrinsicScores",
    "KindScore",
    "Miss",
    "Projection",
    "QuestionSet",
    "draw_embedding",
    "evaluate_coverage",
    "evaluate_embedding",
    "family_of",
    "generate_questions",
    "measure_coverage",
    "project",
    "score_analogies",
    "score_distance",
    "score_groups",
    "write_html",
    "write_png",
]
