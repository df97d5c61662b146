"""NVIDIA's Triton: a client, control of the models of a server of ours, and its model repository."""

from spotthebot.inference.triton.client import TritonClient
from spotthebot.inference.triton.control import TritonControl

__all__ = ["TritonClient", "TritonControl"]
