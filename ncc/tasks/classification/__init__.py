"""Which known problem a program solves: labelled programs, fit, head, prediction.

What answers is imported here, without torch or scikit-learn; what fits is imported from its modules.
"""

from ncc.tasks.classification.predict import ClassShare, ProgramClasses, classify

__all__ = ["ClassShare", "ProgramClasses", "classify"]
