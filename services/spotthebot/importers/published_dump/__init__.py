"""Reader of the data published by the authors of Spot The Bot (Deriu et al., 2020).

A dump is three MongoDB exports per domain: conversations, the packages of their segments, and the annotations. All
three are read as streams, from a folder or from the published zip. Every row becomes a record, or a `Rejected` with
file, line and reason.
"""
