"""The first administrator, and where the console may listen."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User

from memories.console.administrator import generated_password, has_administrator, make_administrator
from memories.console.listening import is_loopback, require_allowed
from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings


@pytest.mark.django_db
def test_the_first_administrator_may_everything_and_is_one() -> None:
    assert not has_administrator()
    person = make_administrator(generated_password())

    assert has_administrator()
    assert person.has_perm("memories.purge_memory")


@pytest.mark.django_db
def test_a_lost_password_is_replaced_and_not_the_person() -> None:
    first = make_administrator("tide-tables-per-harbour")
    again = make_administrator("codes-are-four-letters")

    assert again.pk == first.pk
    assert again.check_password("codes-are-four-letters")
    assert User.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("weak", ["tiny-pw", "123456789012", "administrator"])
def test_a_weak_password_is_refused_without_being_repeated(weak: str) -> None:
    with pytest.raises(MemsuiteError) as refused:
        make_administrator(weak)

    assert refused.value.code is ErrorCode.INVALID_PARAMETER
    assert weak not in str(refused.value.as_answer())
    assert not User.objects.exists()


def test_generated_passwords_differ_and_have_eighty_bits() -> None:
    found = {generated_password() for _ in range(200)}

    assert len(found) == 200
    assert {len(password) for password in found} == {16}


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "localhost", "::1", "[::1]"])
def test_this_machine_needs_no_permission(host: str, tmp_path: Path) -> None:
    assert is_loopback(host)
    require_allowed(host, Settings(tmp_path, tmp_path / "db"), allow_public=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "memory.example", "", "*"])
@pytest.mark.parametrize("missing", ["flag", "hosts", "secret"])
def test_a_public_address_needs_the_flag_a_name_and_a_secret(host: str, missing: str, tmp_path: Path) -> None:
    hosts = () if missing == "hosts" else ("memory.example",)
    settings = Settings(tmp_path, tmp_path / "db", console_hosts=hosts)
    settings.suite_dir.mkdir()
    settings.secret_file.write_text("s" * (10 if missing == "secret" else 86))

    with pytest.raises(MemsuiteError) as refused:
        require_allowed(host, settings, allow_public=missing != "flag")
    assert refused.value.code is ErrorCode.CONFIRMATION_REQUIRED


def test_with_all_three_a_public_address_is_served(tmp_path: Path) -> None:
    settings = Settings(tmp_path, tmp_path / "db", console_hosts=("memory.example",))
    settings.suite_dir.mkdir()
    settings.secret_file.write_text("s" * 86)

    require_allowed("0.0.0.0", settings, allow_public=True)
