"""Recipes, and the parallel, resumable build of a corpus: files to co-occurrence counts."""
