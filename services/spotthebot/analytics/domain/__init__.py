"""The data of a campaign before any statistics: speakers, their annotations, and which annotations count."""
