"""The pages for annotators, teams, researchers and operators.

They are a client of the other services: their requests have no privileges beyond the visitor's key.
"""
