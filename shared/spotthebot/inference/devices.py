"""Checks whether the GPU that a setting names exists, without importing torch or using CUDA.

NVML counts the GPUs. If a process used CUDA for this, it could not fork other processes that use CUDA.
"""

import ctypes
import os
import re
from contextlib import suppress
from pathlib import Path

_NVML = "libnvidia-ml.so.1"
_AMD = Path("/dev/kfd")


class NoSuchDevice(ValueError):
    """A device that this machine lacks, with advice."""


def require_device(device: str) -> None:
    """Raise NoSuchDevice for `cuda` or `cuda:N` if this machine has no such GPU, and for an unknown device name.

    `auto` and `cpu` always exist. torch checks `mps` and `xpu`.
    """
    asked = re.fullmatch(r"cuda(?::(\d+))?", device)
    if asked is None and re.fullmatch(r"auto|(cpu|mps|xpu)(:\d+)?", device) is None:
        message = f"'{device}' is not a device: use 'auto', 'cpu', 'cuda' or, of several GPUs, 'cuda:1'"
        raise NoSuchDevice(message)
    if asked is None or _AMD.exists():  # torch calls AMD's GPUs by the same name, and NVML does not know them
        return
    count = count_gpus()
    if int(asked[1] or 0) >= count:
        found = f"{count} GPU{'' if count == 1 else 's'}" if count else "no NVIDIA GPU"
        message = f"'{device}' asks for a GPU, and this machine has {found}: give the container one, or use 'auto'"
        raise NoSuchDevice(message)


def count_gpus() -> int:
    """Return how many NVIDIA GPUs this process may use."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([each for each in visible.split(",") if each.strip() and not each.strip().startswith("-")])
    count = ctypes.c_uint(0)
    with suppress(OSError):
        nvml = ctypes.CDLL(_NVML)
        if nvml.nvmlInit_v2() == 0:
            nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
            nvml.nvmlShutdown()
    return count.value
