"""Entry links and panels: signatures, query parameters, completions."""
