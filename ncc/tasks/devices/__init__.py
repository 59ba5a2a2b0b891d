"""Whether CPU or GPU runs a kernel faster, and by how much: samples, fit, head, prediction, curve, explanation.

What answers is imported here, without torch or scikit-learn; what fits is imported from its modules.
"""
