"""A Triton inference server on this machine, for development and tests: the real one, on the CPU or a GPU."""
