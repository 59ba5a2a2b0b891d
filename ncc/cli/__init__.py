"""The command line: click commands made from the verbs, run over inputs, their answers printed."""
