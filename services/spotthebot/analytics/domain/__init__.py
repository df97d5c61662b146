"""A study before any statistic: the speakers, their annotations, and the annotations that count."""
