"""Which known problem a program solves: labelled programs, fit, head, prediction.

What answers is imported here, without torch or scikit-learn; what fits is imported from its modules.
"""
