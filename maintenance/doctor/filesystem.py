"""On what kind of file system a path lies, and whether locks and renames can be trusted there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

# Types under which flock may be local to one machine, or a rename may be seen late by another: network file
# systems, FUSE bridges to object stores, and the host folders of virtual machines.
_UNSURE_TYPES = frozenset(
    {
        "9p",
        "afs",
        "afpfs",
        "cifs",
        "davfs",
        "drvfs",
        "fuse.davfs2",
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "fuse.vmhgfs-fuse",
        "ncpfs",
        "nfs",
        "nfs4",
        "prl_fs",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "webdav",
    }
)

# Folders whose client uploads and replaces files behind the back of whoever has them open. macOS keeps the
# newer clients' folders under Library/CloudStorage, as `GoogleDrive-name@example.com`.
_SYNCED = (
    ("Dropbox", re.compile(r"dropbox( \(.+\)|-.+)?", re.IGNORECASE)),
    ("OneDrive", re.compile(r"onedrive( - .+|-.+)?", re.IGNORECASE)),
    ("iCloud Drive", re.compile(r"icloud ?drive|mobile documents|com~apple~clouddocs", re.IGNORECASE)),
    ("Google Drive", re.compile(r"google ?drive(-.+)?|drivefs", re.IGNORECASE)),
)

_MOUNTS = Path("/proc/self/mounts")
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Ground:
    """`kind` is the type as the kernel names it, `synced_by` the client of a synced folder; "" for none."""

    kind: str
    synced_by: str

    @property
    def trusted(self) -> bool:
        return not self.synced_by and self.kind not in _UNSURE_TYPES


def ground_of(path: Path, mounts: str | None = None) -> Ground:
    """The ground a path stands on; a path that is not there yet is judged by where it would be.

    `mounts` is a table in the form of /proc/self/mounts, by default this machine's; where there is none
    (macOS, Windows) only the folder names are judged.
    """
    resolved = path.resolve()
    table = _mount_table() if mounts is None else mounts
    return Ground(kind=_type_of(resolved, table), synced_by=_client(resolved))


def _mount_table() -> str:
    try:
        return _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _type_of(path: Path, mounts: str) -> str:
    kind, longest = "", -1
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = Path(_OCTAL.sub(lambda code: chr(int(code[1], 8)), fields[1]))
        # Of two mounts on one point the later hides the earlier, so an equal length wins as well.
        if path.is_relative_to(point) and len(point.parts) >= longest:
            kind, longest = fields[2], len(point.parts)
    return kind


def _client(path: Path) -> str:
    for part in path.parts:
        for name, pattern in _SYNCED:
            if pattern.fullmatch(part):
                return name
    return ""
