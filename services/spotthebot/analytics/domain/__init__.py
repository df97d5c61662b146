"""What a study is, before any statistic: who spoke, what was said of it, which of it counts."""
