"""Classification of programs by an LSTM and n-grams on their statements, trained on labeled folders."""
