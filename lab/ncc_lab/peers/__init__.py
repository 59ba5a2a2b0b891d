"""Published methods, reimplemented and run on the same folds as everything else."""
