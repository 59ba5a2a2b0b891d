"""Recipes, and the parallel, resumable build of a corpus: files to co-occurrence counts."""

from ncc.corpus.build import CorpusReport, build_corpus
from ncc.corpus.recipe import CorpusFile, Recipe, Source, find_files, load_recipe

__all__ = [
    "CorpusFile",
    "CorpusReport",
    "Recipe",
    "Source",
    "build_corpus",
    "find_files",
    "load_recipe",
]
