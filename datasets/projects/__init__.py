"""Whole projects to find functions in, from the sources of Debian 12."""
