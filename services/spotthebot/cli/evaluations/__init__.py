"""`./stb evaluate`: bots converse, a language model scores the conversations by FED, and the scores rank the bots."""
