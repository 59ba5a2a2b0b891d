"""Classification of programs measured: splits, controls, scores, and the classifier that ships beside them."""
