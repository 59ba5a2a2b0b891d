"""What a GPU kernel does to a machine, from its IR: loops, strides of addresses, divergence, work by kind."""
