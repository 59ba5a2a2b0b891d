"""Vocabulary with back-off, co-occurrence counts, the exact skip-gram, and the embedding table."""
