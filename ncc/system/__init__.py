"""Processes, files and confinement."""
