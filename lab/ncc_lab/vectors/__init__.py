"""Reads vocabularies published by other projects as embeddings of ours, so that they can be compared."""
