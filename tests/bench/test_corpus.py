from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from itertools import combinations

import pytest

from maintenance.bench.corpus import (
    DEFAULT_SEED,
    HALVES,
    KINDS,
    LANGUAGES,
    OPEN_HALVES,
    Corpus,
    CorpusMemory,
    Half,
    Question,
    corpus_hash,
    load_corpus,
    payload_with_ids,
    source,
)
from maintenance.bench.corpus.drill import drill
from maintenance.bench.corpus.memories import Store, fill_store
from maintenance.bench.corpus.overlap import content_words, overlap, overlaps_by_kind
from maintenance.bench.corpus.wording import fill, with_typo, without_accents
from memories.contract import validate_add

# The corpus that frozen targets refer to. A change here makes every earlier result incomparable.
FROZEN_HASH = "519f6a6762b453345f03102f20c964caf00288298ec28b15cf4d87fc58468708"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus()


@pytest.fixture(scope="module")
def memories(corpus: Corpus) -> dict[str, CorpusMemory]:
    return {memory.key: memory for memory in corpus.memories}


def text_of(memory: CorpusMemory) -> str:
    payload = memory.payload
    return " ".join((payload["domain"], payload["subject"], *payload["facts"]))


def assignments_of(memory: CorpusMemory) -> set[str]:
    return {f"{claim.key}={claim.value.rstrip('.')}" for claim in validate_add(memory.payload).form.claims}


def of_kind(corpus: Corpus, *kinds: str) -> list[Question]:
    return [question for question in corpus.questions if question.kind in kinds]


def near_misses(corpus: Corpus, note: str) -> list[Question]:
    return [question for question in corpus.questions if note in question.note.split()]


# --- what is in it ---------------------------------------------------------------------


def test_it_holds_at_least_600_memories_and_400_questions(corpus: Corpus) -> None:
    assert len(corpus.memories) >= 600
    assert len(corpus.questions) >= 400


def test_at_least_150_questions_have_no_answer_and_half_of_them_are_near_misses(corpus: Corpus) -> None:
    sorts = Counter(question.near_miss for question in of_kind(corpus, "no_answer"))
    assert sorts[True] + sorts[False] >= 150
    assert 0.45 <= sorts[True] / (sorts[True] + sorts[False]) <= 0.55


@pytest.mark.parametrize("half", HALVES)
def test_each_half_has_forty_near_misses_and_forty_everyday_questions(corpus: Corpus, half: str) -> None:
    sorts = Counter(question.near_miss for question in corpus.questions if question.half == half)
    assert sorts[True] >= 40
    assert sorts[False] >= 40


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_asked_in_every_language_in_every_half(corpus: Corpus, kind: str) -> None:
    asked = {(question.half, question.language) for question in of_kind(corpus, kind)}
    assert asked == {(half, language) for half in HALVES for language in LANGUAGES}


def test_memories_are_written_in_three_languages(corpus: Corpus) -> None:
    counts = Counter(memory.language for memory in corpus.memories)
    assert set(counts) == set(LANGUAGES)
    assert min(counts.values()) >= 150


def test_some_questions_have_typing_slips_and_some_no_accents(corpus: Corpus) -> None:
    notes = Counter(word for question in corpus.questions for word in question.note.split())
    assert notes["typo"] >= 20
    assert notes["no_accents"] >= 20


# --- the same for everybody ------------------------------------------------------------


def test_the_default_corpus_is_the_frozen_one(corpus: Corpus) -> None:
    assert corpus.seed == DEFAULT_SEED
    assert corpus_hash(corpus) == FROZEN_HASH


def test_another_process_with_another_hash_seed_makes_the_same_corpus(corpus: Corpus) -> None:
    code = "from maintenance.bench.corpus import *; print(corpus_hash(load_corpus()))"
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == corpus_hash(corpus)


def test_another_seed_makes_another_corpus_that_is_as_valid(corpus: Corpus) -> None:
    other = load_corpus(7)
    assert corpus_hash(other) != corpus_hash(corpus)
    assert len(other.memories) >= 600
    for memory in other.memories:
        validate_add(memory.payload)


# --- the memories ----------------------------------------------------------------------


def test_every_payload_passes_the_contract_without_a_warning(corpus: Corpus) -> None:
    warned = {memory.key: validate_add(memory.payload).warnings for memory in corpus.memories}
    assert {key: warnings for key, warnings in warned.items() if warnings} == {}


def test_no_two_memories_share_a_subject_or_a_fingerprint(corpus: Corpus) -> None:
    forms = [validate_add(memory.payload).form for memory in corpus.memories]
    assert len({form.subject_key for form in forms}) == len(forms)
    assert len({form.fingerprint for form in forms}) == len(forms)


def test_relations_point_at_memories_that_come_before(corpus: Corpus) -> None:
    stored: set[str] = set()
    for memory in corpus.memories:
        targets = {r["target_id"] for r in memory.payload.get("relations", ()) if "target_id" in r}
        assert targets <= stored
        stored.add(memory.key)


def test_a_replaced_memory_is_older_says_something_else_and_is_named_by_its_replacement(
    memories: dict[str, CorpusMemory],
) -> None:
    replaced = {
        relation["target_id"]: memory
        for memory in memories.values()
        for relation in memory.payload.get("relations", ())
        if relation["type"] == "supersedes"
    }
    assert set(replaced) == {key for key, memory in memories.items() if memory.superseded}
    for key, newer in replaced.items():
        assert memories[key].created_day < newer.created_day
        assert memories[key].payload["facts"] != newer.payload["facts"]


def test_only_one_memory_holds_about_each_topic_of_an_entity(corpus: Corpus) -> None:
    places = Counter((memory.entity, memory.topic) for memory in corpus.memories if not memory.superseded)
    assert set(places.values()) == {1}


def test_ids_take_the_place_of_keys(memories: dict[str, CorpusMemory]) -> None:
    memory = memories["tidewater.depth"]
    ids = {key: f"id-of-{key}" for key in memories}
    relations = payload_with_ids(memory, ids)["relations"]
    assert relations[0] == {"type": "requires", "target_id": "id-of-tidewater.gauge"}
    assert relations[1] == {"type": "part_of", "target": "Tidewater"}
    assert memory.payload["relations"][0]["target_id"] == "tidewater.gauge"


# --- the halves ------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [*combinations(HALVES, 2)])
def test_no_subject_is_asked_about_in_two_halves(corpus: Corpus, first: Half, second: Half) -> None:
    one, other = ({question.entity for question in corpus.half(half)} for half in (first, second))
    assert one & other == set()


@pytest.mark.parametrize(("first", "second"), [*combinations(HALVES, 2)])
def test_no_memory_is_expected_in_two_halves(corpus: Corpus, first: Half, second: Half) -> None:
    one, other = ({key for q in corpus.half(half) for key in q.expected} for half in (first, second))
    assert one & other == set()


def test_the_drill_asks_about_the_open_halves_only(corpus: Corpus) -> None:
    memories = {memory.key: memory for memory in corpus.memories}
    asked = drill(corpus.seed)
    assert len(asked) > 900
    assert {question.half for question in asked} == set(OPEN_HALVES)
    assert {memories[key].half for question in asked for key in question.expected} == set(OPEN_HALVES)
    assert len({question.text for question in asked}) == len(asked)


def test_no_text_is_asked_twice(corpus: Corpus) -> None:
    texts = Counter(question.text for question in corpus.questions)
    assert [text for text, count in texts.items() if count > 1] == []


def test_no_wording_of_a_topic_serves_two_halves() -> None:
    for topic in (*source.project_topics().values(), *source.people_topics().values()):
        for language in LANGUAGES:
            lists = [topic.asks(language, half) for half in HALVES]
            assert all(lists)
            assert len({text for some in lists for text in some}) == sum(map(len, lists))


def test_projects_name_only_people_of_their_own_half() -> None:
    cast = source.entities()
    for project in source.projects(HALVES):
        assert {cast[project.fields[role]].half for role in ("lead", "oncall")} == {project.half}


# --- the answers -----------------------------------------------------------------------


def test_answers_exist_and_hold_now(corpus: Corpus, memories: dict[str, CorpusMemory]) -> None:
    for question in corpus.questions:
        if question.kind != "no_answer":
            assert question.expected
            assert question.near_miss is None
            assert not any(memories[key].superseded for key in question.expected)


def test_answers_are_about_the_subject_of_the_question(
    corpus: Corpus, memories: dict[str, CorpusMemory]
) -> None:
    for question in corpus.questions:
        assert {memories[key].entity for key in question.expected} <= {question.entity}


def test_traps_are_the_replaced_versions_of_the_answers(
    corpus: Corpus, memories: dict[str, CorpusMemory]
) -> None:
    avoiding = [question for question in corpus.questions if question.avoid]
    assert len(avoiding) >= 40
    for question in avoiding:
        assert all(memories[key].superseded for key in question.avoid)
        assert {key.removesuffix(".old") for key in question.avoid} <= set(question.expected)


@pytest.mark.parametrize(("kind", "count"), [("multi_fact", 2), ("contradiction", 2)])
def test_kinds_that_need_two_memories_name_two(corpus: Corpus, kind: str, count: int) -> None:
    assert {len(question.expected) for question in of_kind(corpus, kind)} == {count}


def test_contradicting_memories_are_declared_so(corpus: Corpus, memories: dict[str, CorpusMemory]) -> None:
    for question in of_kind(corpus, "contradiction"):
        first, second = question.expected
        relation = {"type": "contradicts", "target_id": first}
        assert relation in memories[second].payload["relations"]


def test_asking_what_breaks_expects_everything_that_declares_the_need(
    corpus: Corpus, memories: dict[str, CorpusMemory]
) -> None:
    several = [question for question in of_kind(corpus, "dependency") if len(question.expected) > 1]
    assert len(several) >= 20
    for question in several:
        needed = {memories[key].payload["relations"][0]["target_id"] for key in question.expected}
        assert len(needed) == 1
        declaring = {
            memory.key
            for memory in corpus.memories
            if needed & {relation.get("target_id") for relation in memory.payload.get("relations", ())}
        }
        assert declaring == set(question.expected)


def test_critical_corrections_are_old_and_of_tier_one(
    corpus: Corpus, memories: dict[str, CorpusMemory]
) -> None:
    for question in of_kind(corpus, "old_critical_correction"):
        (key,) = question.expected
        assert memories[key].payload["tier"] == 1
        assert memories[key].created_day <= -500


def test_cross_language_questions_are_in_another_language_than_their_memory(
    corpus: Corpus, memories: dict[str, CorpusMemory]
) -> None:
    for question in of_kind(corpus, "cross_language"):
        assert {memories[key].language for key in question.expected} & {question.language} == set()


@pytest.mark.parametrize("kind", ["id", "exact_path"])
def test_identifiers_and_paths_stand_in_their_memory_only(
    corpus: Corpus, memories: dict[str, CorpusMemory], kind: str
) -> None:
    for question in of_kind(corpus, kind):
        literals = [word.strip("?,.") for word in question.text.split()]
        literals = [word for word in literals if "/" in word or any(c.isdigit() for c in word)]
        assert literals
        holders = {key for key, memory in memories.items() if literals[0] in text_of(memory).split("[")[0]}
        assert holders == set(question.expected)


def test_an_assignment_asked_for_is_claimed_by_one_memory_only(
    corpus: Corpus, memories: dict[str, CorpusMemory]
) -> None:
    assignments = [question for question in of_kind(corpus, "config") if "=" in question.text]
    assert len(assignments) >= 6
    for question in assignments:
        (word,) = (word.rstrip("?") for word in question.text.split() if "=" in word)
        holders = {key for key, memory in memories.items() if word in assignments_of(memory)}
        assert holders == set(question.expected)


# --- the questions without one ---------------------------------------------------------


def test_questions_without_an_answer_expect_nothing(corpus: Corpus) -> None:
    for question in of_kind(corpus, "no_answer"):
        assert question.expected == question.avoid == ()
        assert question.near_miss is not None


@pytest.mark.parametrize("note", ["unknown_person", "unknown_project"])
def test_nobody_and_nothing_of_an_invented_name_is_in_the_corpus(corpus: Corpus, note: str) -> None:
    everything = {word for memory in corpus.memories for word in content_words(text_of(memory))}
    asked = near_misses(corpus, note)
    assert asked
    for question in asked:
        name = question.entity.removeprefix("unknown.")
        assert set(content_words(name)) & everything == set()


def test_unknown_identifiers_are_in_no_memory(corpus: Corpus) -> None:
    everything = " ".join(text_of(memory) for memory in corpus.memories)
    asked = near_misses(corpus, "unknown_id")
    assert asked
    assert [question.text for question in asked if question.text in everything] == []


def test_what_is_left_out_about_an_entity_is_recorded_about_others_only() -> None:
    store = Store()
    fill_store(store, HALVES, random.Random(DEFAULT_SEED))
    recorded = {(memory.entity, memory.topic) for memory in store.memories.values()}
    for entity, topics in store.missing.items():
        assert topics
        for topic in topics:
            assert (entity, topic) not in recorded
            assert any(known == topic for _, known in recorded)


def test_everyday_questions_name_no_project_and_no_person(corpus: Corpus) -> None:
    names = {word for entity in source.entities().values() for word in content_words(entity.name)}
    for question in near_misses(corpus, "everyday"):
        assert set(content_words(question.text)) & names == set()


# --- the wordings ----------------------------------------------------------------------


def test_questions_do_not_echo_their_memories(corpus: Corpus) -> None:
    means = overlaps_by_kind(corpus, with_names=False)
    assert means["paraphrase"] <= 0.30
    assert means["multi_fact"] <= 0.40
    assert means["old_critical_correction"] <= 0.45
    assert means["cross_language"] <= 0.10


def test_overlap_is_the_share_of_content_words_that_the_memory_has(
    memories: dict[str, CorpusMemory],
) -> None:
    memory = memories["tidewater.depth"]
    question = Question(
        "q", "paraphrase", "en", "Tidewater keel rainbow", (), (), "calibration", None, "", "tidewater"
    )
    assert overlap(question, [memory], with_names=False) == 0.5
    assert overlap(question, [memory], with_names=True) == pytest.approx(2 / 3)


def test_french_elides_before_a_vowel_and_before_the_mute_h() -> None:
    cast = source.entities()
    assert fill("le port {de_p}", cast["ondine"]) == "le port d'Ondine"
    assert fill("le thé {de_f}", cast["helene"]) == "le thé d'Hélène"
    assert fill("le port {de_p}", cast["havglimt"]) == "le port de Havglimt"
    assert fill("est-ce que {f} mange ?", cast["anselme"]) == "est-ce qu'Anselme mange ?"


def test_accents_go_and_norwegian_letters_become_plain() -> None:
    assert without_accents("Bruyère på sjøen, cœur et Ærlig") == "Bruyere pa sjoen, coeur et AErlig"


def test_a_slip_changes_one_word_and_spares_the_kept_ones() -> None:
    for seed in range(50):
        slipped = with_typo("Tidewater deployment", random.Random(seed), keep="Tidewater")
        assert slipped.startswith("Tidewater ")
        assert abs(len(slipped) - len("Tidewater deployment")) <= 1
        assert slipped != "Tidewater deployment"
    assert with_typo("who am I", random.Random(1), keep="") == "who am I"
