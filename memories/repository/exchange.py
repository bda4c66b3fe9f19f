"""Two directories change places, in one step where the system can do that."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2  # linux/fs.h
_RENAME_SWAP = 2  # sys/stdio.h of macOS

_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}


def exchange(one: Path, other: Path) -> None:
    """Each directory takes the other's name. Both must be on one file system. Raises ``OSError``.

    Where the system has no such call there is an instant in which neither name is taken: a kill just
    then leaves both directories whole, one of them under a name that ends in ``.exchanged``.
    """
    number = _exchanged(os.fsencode(one), os.fsencode(other))
    if number in _CANNOT:
        _in_three_steps(one, other)
    elif number:
        raise OSError(number, os.strerror(number), str(one))


def _exchanged(one: bytes, other: bytes) -> int:
    """0, or the number of the error."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            failed = library.renamex_np(one, other, _RENAME_SWAP)
        else:
            failed = library.renameat2(_AT_FDCWD, one, _AT_FDCWD, other, _RENAME_EXCHANGE)
    except (AttributeError, OSError, TypeError):
        return errno.ENOSYS
    return ctypes.get_errno() if failed else 0


def _in_three_steps(one: Path, other: Path) -> None:
    between = one.with_name(f"{one.name}.exchanged")
    one.rename(between)
    other.rename(one)
    between.rename(other)
