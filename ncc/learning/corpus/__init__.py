"""Recipes, and the parallel, resumable build of a corpus: files to co-occurrence counts."""

from ncc.learning.corpus.build import CorpusReport, build_corpus
from ncc.learning.corpus.files import CorpusFile, find_files
from ncc.learning.corpus.recipe import Attempt, Recipe, Source, load_recipe
from ncc.learning.corpus.statements import StatementCounts, count_statements

__all__ = [
    "Attempt",
    "CorpusFile",
    "CorpusReport",
    "Recipe",
    "Source",
    "StatementCounts",
    "build_corpus",
    "count_statements",
    "find_files",
    "load_recipe",
]
