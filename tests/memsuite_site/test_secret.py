from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memsuite_site.secret import UnusableSecret, installation_secret


def test_the_secret_is_made_once_and_then_kept(tmp_path: Path) -> None:
    file = tmp_path / "suite" / "secret"

    assert installation_secret(file) == installation_secret(file) == file.read_text()


def test_two_installations_have_different_secrets(tmp_path: Path) -> None:
    assert installation_secret(tmp_path / "a") != installation_secret(tmp_path / "b")


def test_the_secret_is_its_owners_only_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "suite" / "secret"
    installation_secret(file)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert list(file.parent.iterdir()) == [file]


def test_a_secret_left_open_to_others_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    installation_secret(file)
    file.chmod(0o644)
    installation_secret(file)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_first_users_at_the_same_moment_agree_on_one_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(installation_secret, [tmp_path / "secret"] * 32))

    assert len(found) == 1


@pytest.mark.parametrize("content", ["", "short"])
def test_a_file_without_a_usable_secret_is_refused_not_replaced(tmp_path: Path, content: str) -> None:
    file = tmp_path / "secret"
    file.write_text(content)

    with pytest.raises(UnusableSecret):
        installation_secret(file)
    assert file.read_text() == content
