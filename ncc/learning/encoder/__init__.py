"""From the statements of a function or program to one vector: a linear encoder, which ships, and an LSTM."""
