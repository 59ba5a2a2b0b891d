"""``python -m ncc``: the command line, also for torchrun."""

from ncc.cli.main import main

main()
