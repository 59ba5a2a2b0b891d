"""Evaluates device mapping: protocols, controls, scores, and the head that ships."""
