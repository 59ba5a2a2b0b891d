"""Classification of labeled programs."""
