"""The labels of a campaign before any statistics: speakers, annotations, and which annotations count."""
