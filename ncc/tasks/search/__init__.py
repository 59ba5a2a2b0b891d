"""Code search: an index of every function of a code base, nearest neighbors, and groups of similar functions.

`build` reads files into shards that survive a kill; `store` has the format on disk; `index` opens and queries it;
`duplicates` groups similar functions; `calibration` has copy rates; `pages` shows the source of two functions.
"""
