"""Prints those of the shared libraries on standard input, a path a line, that can be loaded in one process.

Used by root.sh before and after it takes symbols out of them.
"""

import ctypes
import sys

for path in sys.stdin.read().splitlines():
    try:
        ctypes.CDLL(path)
    except OSError as error:
        print(f"not loaded: {error}", file=sys.stderr)
    else:
        print(path)
