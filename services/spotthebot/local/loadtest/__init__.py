"""`./stb loadtest`: simulated people and bots use a whole suite. Its response times and memory are measured."""
