"""Intrinsic evaluation of an embedding: analogies, the distance test, coverage, neighbors and pictures."""
