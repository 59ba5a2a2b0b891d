"""From a function's or program's statements to one vector: the one LSTM of ncc, which every task puts a head on.

`network` is the LSTM in torch, for training; `inference` the same in NumPy, for answering; `batches` lays sequences of
different lengths side by side; `program`, `literals` and `names` say what is read of a program. The LSTM that
ships is the classifier's (``ncc/assets/classify``); the heads of devices and of coarsening that ship are no networks,
and ``ncc train devmap --model lstm`` and ``ncc train coarsening --model lstm`` train those that are.
"""
