"""Files as rows of texts: CSV, JSON Lines, the exports of annotation tools, and traces of calls to chat models."""
