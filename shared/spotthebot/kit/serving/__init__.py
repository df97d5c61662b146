"""Serves applications with uvicorn. Limits what a connection may send, and how long it may take.

uvicorn's parser does not limit the size of the head of a request, or the time in which head and body arrive, and it
does not count connections by address. The modules `protocol` and `connections` add these limits, and `configuration`
uses them.
"""
