"""Algorithm classification: which of the known problems a program solves; POJ-104, or anyone's labelled folders."""
