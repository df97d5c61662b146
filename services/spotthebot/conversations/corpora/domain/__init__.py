"""Rules over corpora: the forms of files, the statistics of splits, and the dialogues that no bot may learn."""
