"""NVIDIA's Triton: a client, control of the models on a server, its model repository, and a server on this machine."""
