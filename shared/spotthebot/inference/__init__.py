"""Runs models for any service: worker processes with dynamic batching, a client and control of Triton, model files.

It imports no service. The kind of a model defines the form of its requests and results (`models/protocol.py`).
"""
