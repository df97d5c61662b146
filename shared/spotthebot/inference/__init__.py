"""Running models, for any service: worker processes with dynamic batching, a client and control of Triton, model files.

It knows no service. What a model is asked and what it answers is the business of its kind (`models/protocol.py`).
"""
