"""Evaluates code search by vectors: programs of the same class, and the same function compiled differently."""
