"""What goes into ncc from outside: cards of datasets, recipes of corpora, samples, and generators of programs."""
