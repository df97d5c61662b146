"""`python -m spotthebot.suite`: the command line, as `stb` runs it."""

from spotthebot.suite.cli import main

main()
