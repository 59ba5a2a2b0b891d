"""Builds the contextual flow graph (XFG) from statements, and counts contexts on it."""
