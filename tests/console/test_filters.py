"""The filter of lists and selections: what it reads, writes, and lets through."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from console.samples import AUTHOR, payload
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from memories.console.filters import MemoryFilter
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository


def store(repository: MemoryRepository, subject: str, at: str = "2026-03-10", **changes: object) -> str:
    source = Author(
        actor="agent",
        session_id=str(changes.pop("session", "s-1")),
        source=str(changes.pop("source", "agent")),
    )
    moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
    facts = changes.pop("facts", [f"{subject} says something"])
    return repository.add(payload(subject, facts=facts, **changes), source, at=moment).memory_id


def found(repository: MemoryRepository, query: str) -> list[str]:
    return MemoryFilter.of(QueryDict(query)).ids(repository)


@pytest.fixture
def three(repository: MemoryRepository) -> dict[str, str]:
    """Three memories that differ in everything a filter asks for."""
    return {
        "tide": store(repository, "Tide_API", "2026-03-10", facts=["Listens on port=8410"], quality=0.9),
        "pump": store(
            repository,
            "Pump",
            "2026-03-11",
            facts=["Une ÉTOILE de mer, 100% _sure_, it's so"],
            category="fact",
            type="note",
            tier=1,
            tags=["Mer"],
            quality=0.2,
            session="s-2",
            source="console",
        ),
        "tax": store(repository, "Tax", "2026-03-12", category="decision", tags=["tva"], quality=0.5),
    }


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["tax", "pump", "tide"]),
        ("sort=oldest", ["tide", "pump", "tax"]),
        ("sort=quality", ["tide", "tax", "pump"]),
        ("sort=subject", ["pump", "tax", "tide"]),
        ("sort=relevance", ["tax", "pump", "tide"]),
        ("category=fact", ["pump"]),
        ("type=note", ["pump"]),
        ("tier=1", ["pump"]),
        ("tag=tva", ["tax"]),
        ("tag=mer", []),
        ("tag=Mer", ["pump"]),
        ("source=console", ["pump"]),
        ("session=s-2", ["pump"]),
        ("quality_min=0.5", ["tax", "tide"]),
        ("quality_max=0.5", ["tax", "pump"]),
        ("created_from=2026-03-11", ["tax", "pump"]),
        ("created_to=2026-03-11", ["pump", "tide"]),
        ("created_from=2026-03-11&created_to=2026-03-11", ["pump"]),
        ("created_to=9999-12-31", ["tax", "pump", "tide"]),
        ("conflict=1", []),
        ("never_recalled=1", ["tax", "pump", "tide"]),
        ("q=PORT%3D84&how=contains", ["tide"]),
        ("q=havlys:tax&how=contains", ["tax"]),
        ("q=%C3%A9toile&how=contains", ["pump"]),
        ("q=100%25+_sure_,+it's&how=contains", ["pump"]),
        ("q=%25&how=contains", ["pump"]),
        ("q=nowhere&how=contains", []),
        ("q=pump&category=decision&how=contains", []),
        ("offset=50&size=20&next=/x", ["tax", "pump", "tide"]),
        ("category=&tier=&q=", ["tax", "pump", "tide"]),
    ],
)
def test_a_filter_lets_through_what_it_says(
    repository: MemoryRepository, three: dict[str, str], query: str, names: list[str]
) -> None:
    assert found(repository, query) == [three[name] for name in names]


def test_an_entity_narrows_the_list(repository: MemoryRepository, three: dict[str, str]) -> None:
    entity = repository.get(three["tide"]).memory.entities[0]

    assert three["tide"] in found(repository, f"entity={entity}")
    assert found(repository, "entity=Nobody_at_all") == []


def test_a_text_is_not_found_across_two_facts(repository: MemoryRepository) -> None:
    store(repository, "Split", facts=["ends here", "starts there"])

    assert found(repository, "q=here+starts&how=contains") == []
    assert found(repository, "q=herestarts&how=contains") == []


def test_both_sides_of_an_open_conflict_are_in_conflict(repository: MemoryRepository) -> None:
    store(repository, "Alone")
    one = store(repository, "Gate", facts=["port=8080"])
    other = store(repository, "Gate_north", facts=["port=9090"])
    repository.update(other, {"subject": "Gate"}, AUTHOR, patch=True)

    assert set(found(repository, "conflict=1")) == {one, other}


def test_recalled_memories_come_first_and_are_left_out_of_never_recalled(
    repository: MemoryRepository, three: dict[str, str]
) -> None:
    repository.usage.record_recall([three["pump"]])

    assert found(repository, "sort=recalled") == [three["pump"], three["tax"], three["tide"]]
    assert found(repository, "never_recalled=1") == [three["tax"], three["tide"]]


def test_the_most_recalled_come_first(repository: MemoryRepository, three: dict[str, str]) -> None:
    for name in ("tide", "pump", "tide"):
        repository.usage.record_recall([three[name]])

    assert found(repository, "sort=most_recalled") == [three["tide"], three["pump"], three["tax"]]


def test_the_last_changed_comes_first(repository: MemoryRepository, three: dict[str, str]) -> None:
    repository.update(three["tide"], {"quality": 0.3}, AUTHOR, patch=True)

    assert found(repository, "sort=changed")[0] == three["tide"]


@pytest.mark.parametrize(
    "query", ["", "tier=2", "q=tide&how=contains", "q=port+of+Tide_API", "never_recalled=1"]
)
def test_the_count_is_that_of_the_list(
    repository: MemoryRepository, three: dict[str, str], query: str
) -> None:
    repository.usage.record_recall([three["pump"]])

    assert MemoryFilter.of(QueryDict(query)).count(repository) == len(found(repository, query))


def test_relevance_puts_subjects_before_facts(repository: MemoryRepository) -> None:
    named = store(repository, "Harbour_gauge", "2026-03-01")
    told = store(repository, "Other", "2026-03-05", facts=["Reads the harbour gauge"])

    assert found(repository, "q=harbour&sort=relevance&how=contains") == [named, told]
    assert found(repository, "q=harbour&how=contains") == [told, named]


def test_words_finds_what_the_agent_finds(repository: MemoryRepository, three: dict[str, str]) -> None:
    assert found(repository, "q=which+port+does+Tide_API+listen+on") == [three["tide"]]
    assert found(repository, "q=which+port+does+Tide_API+listen+on&how=contains") == []


def test_words_respects_the_other_filters(repository: MemoryRepository, three: dict[str, str]) -> None:
    assert found(repository, "q=port+of+Tide_API&quality_max=0.3") == []


@pytest.mark.parametrize(
    ("query", "code", "field"),
    [
        ("category=nonsense", ErrorCode.INVALID_CATEGORY, "category"),
        ("tier=4", ErrorCode.INVALID_TIER, "tier"),
        ("tier=one", ErrorCode.INVALID_TIER, "tier"),
        ("quality_min=much", ErrorCode.INVALID_PARAMETER, "quality_min"),
        ("quality_max=nan", ErrorCode.INVALID_PARAMETER, "quality_max"),
        ("created_from=yesterday", ErrorCode.INVALID_PARAMETER, "created_from"),
        ("conflict=perhaps", ErrorCode.INVALID_PARAMETER, "conflict"),
        ("sort=random", ErrorCode.INVALID_PARAMETER, "sort"),
        ("how=magic", ErrorCode.INVALID_PARAMETER, "how"),
        ("tag=a%00b", ErrorCode.INVALID_PARAMETER, "tag"),
        (f"q={'x' * 501}", ErrorCode.INVALID_PARAMETER, "q"),
    ],
)
def test_a_value_that_cannot_be_read_is_refused_by_name(query: str, code: ErrorCode, field: str) -> None:
    with pytest.raises(MemsuiteError) as refused:
        MemoryFilter.of(QueryDict(query))

    assert (refused.value.code, refused.value.field) == (code, field)


@given(
    st.dictionaries(
        st.sampled_from(["q", "tag", "tier", "created_to", "conflict", "how", "sort"]), st.text(max_size=20)
    )
)
def test_any_query_is_read_or_refused(query: dict[str, str]) -> None:
    try:
        read = MemoryFilter.of(query)
    except MemsuiteError:
        return
    assert MemoryFilter.of(QueryDict(read.query_string())) == MemoryFilter.of(dict(read.pairs()))


def test_a_filter_reads_back_from_its_own_query() -> None:
    query = "q=sea&how=contains&category=tech&tier=2&tag=a+b&quality_min=0.5&conflict=1&created_to=2026-03-11"
    read = MemoryFilter.of(QueryDict(query))

    assert MemoryFilter.of(QueryDict(read.query_string())) == read


def test_a_pill_leads_to_the_list_without_it() -> None:
    read = MemoryFilter.of(QueryDict("q=tide&tag=api&tier=2&never_recalled=1"))

    assert [(pill.label, pill.value, pill.remove_url) for pill in read.pills("/memories/")] == [
        ("tier", "2", "/memories/?q=tide&tag=api&never_recalled=1"),
        ("tag", "api", "/memories/?q=tide&tier=2&never_recalled=1"),
        ("never recalled", "", "/memories/?q=tide&tier=2&tag=api"),
    ]


def test_only_conditions_narrow() -> None:
    assert not MemoryFilter.of(QueryDict("sort=oldest&how=contains")).narrows
    assert MemoryFilter.of(QueryDict("tag=api")).narrows


def test_an_empty_database_has_no_matches(repository: MemoryRepository) -> None:
    assert found(repository, "") == []
    assert found(repository, "q=tide&conflict=1&never_recalled=1&sort=recalled") == []
