"""Code search: an index of every function of a code base, nearest neighbors, and groups of similar functions.

`build` reads files in parts that survive a kill; `store` lays functions, files and vectors down on disk; `index` opens
and asks them; `duplicates` groups what is alike; `calibration` says how sure that is; `pages` shows two places' source.
"""
