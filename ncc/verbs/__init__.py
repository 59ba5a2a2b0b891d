"""Every verb once: the function of the API, its command, and what both print."""
