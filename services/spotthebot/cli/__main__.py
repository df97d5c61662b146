"""`python -m spotthebot.cli` runs the command line, as the script `stb` does."""

from spotthebot.cli.application import main

main()
