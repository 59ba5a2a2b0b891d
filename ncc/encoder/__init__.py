"""What the encoder reads of a function or program, and the LSTM that makes one vector of it.

Torch trains it, NumPy answers.
"""
