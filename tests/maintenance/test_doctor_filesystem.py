from __future__ import annotations

from pathlib import Path

import pytest

from maintenance.doctor.filesystem import ground_of

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
/dev/sdb1 /home/ines ext4 rw 0 0
nas:/export /home/ines/nas nfs4 rw 0 0
//nas/share /mnt/with\\040blank cifs rw 0 0
overlay /twice overlay rw 0 0
tmpfs /twice tmpfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind", "trusted"),
    [
        ("/srv/db", "ext4", True),
        ("/home/ines/db", "ext4", True),
        ("/home/ines/nas/db", "nfs4", False),
        ("/home/ines/nasty/db", "ext4", True),
        ("/mnt/with blank/db", "cifs", False),
        ("/twice/db", "tmpfs", True),
    ],
)
def test_a_path_stands_on_the_longest_mount_that_holds_it(path: str, kind: str, trusted: bool) -> None:
    ground = ground_of(Path(path), MOUNTS)
    assert (ground.kind, ground.trusted) == (kind, trusted)


@pytest.mark.parametrize(
    ("folder", "client"),
    [
        ("Dropbox", "Dropbox"),
        ("Dropbox (Team)", "Dropbox"),
        ("OneDrive - Tidewater", "OneDrive"),
        ("Library/Mobile Documents", "iCloud Drive"),
        ("iCloudDrive", "iCloud Drive"),
        ("Google Drive", "Google Drive"),
        ("Library/CloudStorage/GoogleDrive-ines@tidewater.example", "Google Drive"),
    ],
)
def test_a_synced_folder_is_told_from_its_name(folder: str, client: str) -> None:
    ground = ground_of(Path("/home/ines") / folder / "db", MOUNTS)
    assert (ground.synced_by, ground.trusted) == (client, False)


@pytest.mark.parametrize("folder", ["Dropboxes", "my-onedrive-notes", "drive"])
def test_a_folder_that_is_only_called_alike_is_trusted(folder: str) -> None:
    assert ground_of(Path("/home/ines") / folder, MOUNTS).trusted


def test_without_a_mount_table_only_the_names_are_judged() -> None:
    assert ground_of(Path("/home/ines/db"), "").trusted


def test_a_link_is_judged_by_where_it_leads(tmp_path: Path) -> None:
    target = tmp_path / "OneDrive" / "db"
    target.mkdir(parents=True)
    link = tmp_path / "plain"
    link.symlink_to(target)
    assert ground_of(link).synced_by == "OneDrive"
