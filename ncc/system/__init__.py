"""Processes, files and confinement."""

import os

if os.name == "nt":
    raise ImportError("ncc runs on Linux and macOS; on Windows use WSL 2")
