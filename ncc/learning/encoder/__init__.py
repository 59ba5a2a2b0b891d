"""From the statements of a function or program to one vector: an LSTM to put heads on, and a linear encoder.

`lstm` is the one LSTM in torch, for training, and `lstm_numpy` the same in NumPy, for answering. The classifier that
ships is such an LSTM (``ncc/assets/classify``, its sizes in `ncc.learning.encoder.network_numpy`); the heads of devices
and of coarsening that ship are not networks, and ``--model lstm`` trains those that are. `linear_encoder` is what ships
for vectors of functions and modules (``ncc/assets/encoder``); `lstm_encoder` is the LSTM in its place.
"""
