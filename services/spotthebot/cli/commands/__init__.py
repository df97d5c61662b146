"""The commands of `stb`: what typer makes of their options, and what they print."""
