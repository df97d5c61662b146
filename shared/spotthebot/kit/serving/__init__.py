"""How applications are served: uvicorn, with limits on what a connection may hold and for how long.

uvicorn's parser limits neither the bytes of a head nor the time that a head or a body takes, and knows no addresses:
`protocol` and `connections` add that. `configuration` puts it together.
"""
