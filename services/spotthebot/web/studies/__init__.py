"""The list of studies, and a study's page: its tasks, all measures, and which of them deserve trust."""
