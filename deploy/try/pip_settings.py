"""Print this machine's pip settings that an image build needs: the package indexes and the time-out.

A build sees no folder of this machine, so every other setting stays behind: a constraints file, folders of wheels, a
certificate, `no-index`. `--folders` prints the folders of wheels instead, one a line, to copy them into the build.
"""

import ast
import re
import subprocess
import sys

_NAMES = {
    "index-url": "index-url",
    "extra-index-url": "extra-index-url",
    "timeout": "timeout",
    "default-timeout": "timeout",
}
_FOLDERS = "find-links"
# pip reads these three in this order; the last one wins.
_PLACES = ("global", "install", ":env:")


def settings() -> dict[str, list[str]]:
    """Return the values of each setting that `pip install` would use here."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    ).stdout
    found: dict[str, dict[str, list[str]]] = {place: {} for place in _PLACES}
    for line in listed.splitlines():
        setting = re.fullmatch(r"(global|install|:env:)\.([\w-]+)=(.+)", line)
        if setting:
            place, name, value = setting.groups()
            found[place][name.replace("_", "-")] = str(ast.literal_eval(value)).split()
    return {name: values for place in _PLACES for name, values in found[place].items()}


def for_a_build(here: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the settings that mean the same inside a build; an index in a folder of this machine does not."""
    taken = {
        _NAMES[name]: [value for value in values if not value.startswith("file:")]
        for name, values in here.items()
        if name in _NAMES
    }
    return {name: values for name, values in sorted(taken.items()) if values}


def main() -> None:
    """Print what the arguments ask for."""
    here = settings()
    if sys.argv[1:] == ["--folders"]:
        print(*here.get(_FOLDERS, []), sep="\n")
        return
    print("[global]")
    for name, values in for_a_build(here).items():
        print(f"{name} = {' '.join(values)}")


if __name__ == "__main__":
    main()
