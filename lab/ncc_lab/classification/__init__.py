"""Evaluates program classification: splits, controls, scores, and the classifier that ships."""
