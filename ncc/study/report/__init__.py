"""Reports of an evaluation: an HTML page that needs no other file and no net, and tables for a terminal."""
