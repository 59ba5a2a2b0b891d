"""Confined processes and their limits."""
