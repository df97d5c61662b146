"""The services as tools of a model client, by the Model Context Protocol."""
