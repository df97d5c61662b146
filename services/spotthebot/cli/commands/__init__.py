"""The commands of `stb`: their options, which typer reads, and their printed output."""
