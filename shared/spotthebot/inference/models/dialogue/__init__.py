"""Dialogue models and their batched replies: any dialogue model of transformers, and the kinds that `bots` trains."""
