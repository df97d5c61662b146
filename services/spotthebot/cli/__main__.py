"""`python -m spotthebot.cli`: the command line, as `stb` runs it."""

from spotthebot.cli import main

main()
