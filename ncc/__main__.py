"""``python -m ncc``: the command line, also for torchrun."""

from ncc.cli import main

main()
