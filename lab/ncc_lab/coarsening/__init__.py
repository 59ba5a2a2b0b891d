"""Evaluates thread coarsening: protocols, controls, scores, and the head that ships."""
