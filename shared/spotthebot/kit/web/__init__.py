"""The HTTP layer that services share. It consists of parts.

The part `core` is for every application, `database` for applications that store data, and `bearer` for applications
whose callers have API keys. `api` combines these three.
"""
