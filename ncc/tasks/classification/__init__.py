"""Which problem a program solves: an LSTM and n-grams on its statements, trained on labeled folders."""
