"""Behavior of a GPU kernel on a machine, from its IR: loops, strides of addresses, divergence, work by kind."""
