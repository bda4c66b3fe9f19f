from __future__ import annotations

import threading
from pathlib import Path

import pytest

from hermes_plugin.provider.shared_store import lease, open_stores
from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings, load_settings


@pytest.fixture
def settings(hermes_home: Path) -> Settings:
    return load_settings(hermes_home=hermes_home, embed_model="builtin:static")


def test_a_lease_opens_nothing_until_used(settings: Settings) -> None:
    share = lease(settings)
    assert not share.is_open
    with share.use():
        assert share.is_open
    share.give_back()


def test_all_leases_of_a_path_share_one_repository(settings: Settings) -> None:
    first, second = lease(settings), lease(settings)
    with first.use() as one, second.use() as other:
        assert one is other
    first.give_back()
    second.give_back()


def test_a_linked_path_is_the_same_store(settings: Settings, tmp_path: Path) -> None:
    settings.db_path.mkdir(parents=True)
    (tmp_path / "link").symlink_to(settings.db_path)
    linked = lease(load_settings(hermes_home=settings.hermes_home, db_path=tmp_path / "link"))
    share = lease(settings)
    assert len(open_stores()) == 1
    linked.give_back()
    share.give_back()


def test_only_the_last_lease_closes_the_store(settings: Settings) -> None:
    first, second = lease(settings), lease(settings)
    with first.use():
        pass
    first.give_back()
    first.give_back()
    assert second.is_open
    second.give_back()
    assert open_stores() == ()
    assert not second.is_open


def test_a_call_in_flight_keeps_the_store_open_until_it_ends(settings: Settings) -> None:
    share = lease(settings)
    with share.use() as repository:
        share.give_back()
        assert share.is_open
        assert repository.count() == 0
    assert not share.is_open


def test_a_returned_lease_is_refused(settings: Settings) -> None:
    share = lease(settings)
    share.give_back()
    with pytest.raises(MemsuiteError) as caught, share.use():
        pass
    assert caught.value.code is ErrorCode.STORE_UNAVAILABLE


def test_threads_opening_at_once_get_one_repository(settings: Settings) -> None:
    shares = [lease(settings) for _ in range(8)]
    seen: list[int] = []

    def use(number: int) -> None:
        with shares[number].use() as repository:
            seen.append(id(repository))

    threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 1
    assert len(seen) == 8
    for share in shares:
        share.give_back()


def test_many_starts_and_stops_leave_no_store_behind(settings: Settings) -> None:
    for _ in range(20):
        share = lease(settings)
        with share.use():
            pass
        share.give_back()
    assert open_stores() == ()
