"""Classification of labelled programs."""
