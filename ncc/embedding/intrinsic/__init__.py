"""Intrinsic evaluation of an embedding: analogies, the distance test, coverage, neighbours and pictures."""

from ncc.embedding.intrinsic.analogies import GroupScore, KindScore, score_analogies, score_groups
from ncc.embedding.intrinsic.coverage import Coverage, Miss, measure_coverage
from ncc.embedding.intrinsic.distance import CategoryScore, DistanceScore, score_distance
from ncc.embedding.intrinsic.evaluation import DEFAULT_STATEMENTS, IntrinsicScores, evaluate_embedding
from ncc.embedding.intrinsic.families import FAMILIES, family_of
from ncc.embedding.intrinsic.page import write_html
from ncc.embedding.intrinsic.picture import Projection, project, write_png
from ncc.embedding.intrinsic.questions import Question, QuestionSet, generate_questions

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
    "Question",
    "QuestionSet",
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
