"""Encoders from the statements of a function or program to one vector: a linear one, which ships, and an LSTM."""
