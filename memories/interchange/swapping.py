"""Two directories that change names: in one step where the system has one for it."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

_AT_FDCWD = -100
_LINUX_EXCHANGE = 2
_MAC_SWAP = 2
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP})


def exchange(one: Path, other: Path) -> bool:
    """Swap two directories on one file system; False, with nothing done, where that takes more than one
    step here. Raises ``OSError`` where it fails."""
    if sys.platform.startswith("linux"):
        function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        arguments = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _LINUX_EXCHANGE)
    elif sys.platform == "darwin":
        function = getattr(ctypes.CDLL(None, use_errno=True), "renamex_np", None)
        arguments = (os.fsencode(one), os.fsencode(other), _MAC_SWAP)  # type: ignore[assignment]
    else:
        return False
    if function is None:
        return False
    if function(*arguments) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(one))
