"""Intrinsic evaluation of an embedding: analogies, the distance test, coverage, neighbours and pictures."""
