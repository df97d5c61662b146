"""The HTTP edge that services share, in parts.

`core` is for every application, `database` for those that keep data, `bearer` for those whose callers have API keys;
`api` puts the three together.
"""
