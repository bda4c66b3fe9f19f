"""The JSON API as a program meets it: what it may, what it gets, how it is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from console.addresses import served
from console.people import BACKEND
from console.samples import AUTHOR, payload
from django.http import HttpResponse
from django.test import Client

from memories.console.audit_models import AuditEvent
from memories.contract import CONTRACT_VERSION
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs, Person


@pytest.fixture
def curator(client_as: ClientAs) -> Client:
    return client_as("curator")


def post(client: Client, path: str, body: object = None, **headers: str) -> HttpResponse:
    text = body if isinstance(body, str) else json.dumps({} if body is None else body)
    return client.post(f"/api/{path}", text, content_type="application/json", headers=headers)


def said(answer: HttpResponse) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer.content)
    assert found["contract_version"] == CONTRACT_VERSION
    assert found["success"] is (answer.status_code == 200)
    return found


def test_a_memory_is_added_read_changed_and_trashed(curator: Client, repository: MemoryRepository) -> None:
    added = said(post(curator, "memories", payload()))
    path = f"memories/{added['memory_id']}"

    changed = said(post(curator, path, {"tier": 1, "base_revision": 1}))
    read = said(curator.get(f"/api/{path}"))
    gone = said(post(curator, "delete", {"memory_id": added["memory_id"], "note": "moved house"}))

    assert (added["status"], changed["updated_fields"], read["memory"]["tier"]) == ("created", ["tier"], 1)
    assert gone["restorable"] is True
    assert repository.count() == 0
    assert list(AuditEvent.objects.order_by("position").values_list("action", flat=True)) == [
        "add",
        "update",
        "delete",
    ]


def test_the_older_addresses_of_one_memory_do_the_same(curator: Client, repository: MemoryRepository) -> None:
    memory_id = repository.add(payload(), AUTHOR).memory_id

    changed = said(post(curator, "update", {"memory_id": memory_id, "quality": 0.9}))
    read = said(curator.get("/api/memory", {"id": memory_id}))

    assert changed["updated_fields"] == ["quality"]
    assert read["memory"]["id"] == memory_id


def test_a_preview_says_what_would_be_stored_and_stores_nothing(
    curator: Client, repository: MemoryRepository
) -> None:
    memory_id = repository.add(payload(), AUTHOR).memory_id
    before = repository.snapshot().generation

    shown = said(post(curator, f"memories/{memory_id}/preview", {"facts": ["port=9000"]}))

    assert "port=9000" in shown["canonical_content"]
    assert repository.snapshot().generation == before


def test_a_change_over_a_newer_state_is_a_conflict(curator: Client, repository: MemoryRepository) -> None:
    memory_id = repository.add(payload(), AUTHOR).memory_id
    repository.update(memory_id, {"tier": 3}, AUTHOR, patch=True)

    refused = post(curator, f"memories/{memory_id}", {"tier": 1, "base_revision": 1})

    assert refused.status_code == 409
    assert said(refused)["error"]["code"] == "version_conflict"


def test_what_is_wrong_with_a_field_is_said_with_its_place(curator: Client) -> None:
    refused = post(curator, "memories", payload(facts=["x" * 2000]))

    assert refused.status_code == 422
    assert said(refused)["error"]["field"] == "facts[0]"


@pytest.mark.parametrize(
    ("body", "status"),
    [("[1]", 400), ("{", 400), ('{"a": NaN}', 400), ("[" * 5000, 400), ("\xff", 400), ('{"nope": 1}', 400)],
)
def test_a_body_that_is_no_request_is_refused(curator: Client, body: str, status: int) -> None:
    answer = post(curator, "memories", body)

    assert answer.status_code == status
    assert said(answer)["error"]["code"] in ("invalid_type", "unknown_field")


def test_a_form_is_not_taken_for_json(curator: Client) -> None:
    answer = curator.post("/api/memories", {"domain": "x"})

    assert answer.status_code == 415


def test_lists_are_paged_with_an_exact_total(curator: Client, repository: MemoryRepository) -> None:
    for number in range(3):
        repository.add(payload(f"Tide_{number}", facts=[f"Serves table {number}"]), AUTHOR)

    page = said(curator.get("/api/memories", {"offset": 1, "limit": 1}))
    tags = said(curator.get("/api/tags"))
    days = said(curator.get("/api/timeline"))

    assert (page["total"], len(page["memories"])) == (3, 1)
    assert tags["tags"] == [{"tag": "api", "count": 3}, {"tag": "tide", "count": 3}]
    assert [day["count"] for day in days["days"]] == [3]


@pytest.mark.parametrize("query", ["limit=0", "limit=100000", "offset=-1", "limit=many", "offset=9e99"])
def test_a_page_out_of_range_is_refused(curator: Client, query: str) -> None:
    answer = curator.get(f"/api/memories?{query}")

    assert answer.status_code == 400
    assert said(answer)["error"]["code"] == "invalid_parameter"


def test_search_is_the_agents_search(curator: Client, repository: MemoryRepository) -> None:
    memory_id = repository.add(payload(), AUTHOR).memory_id

    found = said(curator.get("/api/search", {"q": '"tide.havlys.internal"', "top_k": "5"}))

    assert [row["id"] for row in found["results"]] == [memory_id]


def test_many_are_changed_in_one_operation_and_undone(curator: Client, repository: MemoryRepository) -> None:
    ids = [
        repository.add(payload(f"Tide_{number}", facts=[f"Serves table {number}"]), AUTHOR).memory_id
        for number in range(3)
    ]

    tagged = said(post(curator, "memories/bulk-tag", {"memory_ids": ids[:2], "tags": ["north"]}))
    typed = said(post(curator, "memories/bulk-type", {"filter": "tag=north", "type": "service"}))
    undone = said(post(curator, f"operations/{typed['operation_id']}/undo"))

    assert (
        sorted(tagged["changed"]) == sorted(typed["changed"]) == sorted(undone["undone"]) == sorted(ids[:2])
    )


def test_more_ids_than_a_call_takes_are_refused(curator: Client) -> None:
    answer = post(curator, "memories/bulk-delete", {"memory_ids": ["x"] * 1001})

    assert answer.status_code == 400
    assert said(answer)["error"]["code"] == "too_many_ids"


def test_tags_are_renamed_merged_and_deleted(curator: Client, repository: MemoryRepository) -> None:
    repository.add(payload(), AUTHOR)

    said(post(curator, "tags/rename", {"old_name": "tide", "new_name": "water"}))
    said(post(curator, "tags/merge", {"sources": ["water"], "target": "sea"}))
    said(post(curator, "tags/delete", {"tag": "api"}))

    assert repository.catalogue().counts("tags") == {"sea": 1}


def test_the_api_answers_its_errors_in_json(client_as: ClientAs, curator: Client) -> None:
    nobody = client_as("anonymous").get("/api/memories")
    viewer = post(client_as("viewer"), "delete", {"memory_id": "x"})
    nowhere = curator.get("/api/nothing/here")
    unknown = curator.get("/api/memories/0198")
    wrong = curator.put("/api/memories")

    found = [(each.status_code, said(each)["error"]["code"]) for each in (nobody, viewer, nowhere, unknown)]
    assert found == [
        (401, "not_authenticated"),
        (403, "not_permitted"),
        (404, "not_found"),
        (404, "memory_not_found"),
    ]
    assert (wrong.status_code, wrong["Allow"]) == (405, "GET, HEAD, POST")


def test_nothing_of_the_api_is_kept_by_a_cache(curator: Client) -> None:
    assert curator.get("/api/memories")["Cache-Control"] == "no-store"


def test_the_description_lists_every_address(curator: Client) -> None:
    described = json.loads(curator.get("/api/openapi.json").content)["paths"]

    found = {f"{method.upper()} {path}" for path, methods in described.items() for method in methods}
    assert found == set(served())


def test_the_documentation_lists_every_address_and_no_other() -> None:
    page = Path(__file__).parents[2] / "docs" / "api.md"
    named = re.findall(r"^\| `((?:GET|POST) /api/[^`]*)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)

    assert sorted(named) == sorted({*served(), "GET /api/openapi.json"})


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("graph", "nodes"),
        ("projection", "points"),
        ("clusters", "clusters"),
        ("duplicates", "groups"),
        ("stale", "memories"),
        ("review", "items"),
        ("conflicts", "conflicts"),
        ("typed-edges", "edges"),
    ],
)
@pytest.mark.parametrize("stored", [0, 3])
def test_what_is_computed_over_all_is_paged(
    curator: Client, repository: MemoryRepository, path: str, part: str, stored: int
) -> None:
    repository.add_many([payload(f"Tide_{at}", facts=[f"Serves table {at}"]) for at in range(stored)], AUTHOR)

    page = said(curator.get(f"/api/{path}", {"limit": 2}))

    assert isinstance(page["total"], int)
    assert len(page[part]) <= 2


def test_a_conflict_is_decided_with_a_reason(curator: Client, repository: MemoryRepository) -> None:
    first = repository.add(payload("Tide_API", facts=["port=8410"]), AUTHOR).memory_id
    second = repository.add(payload("Other", facts=["port=9000"]), AUTHOR).memory_id
    repository.update(second, {"subject": "Tide_API"}, AUTHOR, patch=True)
    conflict = said(curator.get("/api/conflicts", {"status": "open"}))["conflicts"][0]["conflict_id"]
    path = f"conflicts/{conflict}/resolve"

    without = post(curator, path, {"resolution": "keep_a"})
    decided = said(post(curator, path, {"resolution": "both_stand", "note": "two machines"}))

    assert without.status_code == 400
    assert decided["operation_id"]
    assert repository.conflicts(status="open") == []
    assert {first, second} <= set(repository.catalogue().table["id"].to_pylist())


def test_what_is_exported_can_be_imported(
    curator: Client, client_as: ClientAs, repository: MemoryRepository
) -> None:
    memory_id = repository.add(payload(), AUTHOR).memory_id
    exported = b"".join(curator.get("/api/export").streaming_content)  # type: ignore[attr-defined]
    post(curator, "delete", {"memory_id": memory_id})

    answer = curator.post(
        "/api/import?from=memsuite&dry_run=true", exported, content_type="application/x-ndjson"
    )

    assert said(answer)["success"]


def test_maintenance_asks_for_a_confirmation(client_as: ClientAs, repository: MemoryRepository) -> None:
    repository.add(payload(), AUTHOR)
    operator = client_as("operator")

    plan = said(operator.get("/api/maintenance/compact/plan"))
    refused = post(operator, "maintenance/compact", {})
    done = said(post(operator, "maintenance/compact", {"confirmed": True}))

    assert plan["success"]
    assert refused.status_code == 409
    assert done["status"] == "not_needed"


def test_a_third_heavy_computation_is_told_to_come_back(
    curator: Client, repository: MemoryRepository
) -> None:
    from memories.console.heavy import heavy_work

    repository.add(payload(), AUTHOR)
    with heavy_work(), heavy_work():
        answer = post(curator, "tags/delete", {"tag": "api"})

    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert said(answer)["error"]["code"] == "heavy_work_busy"


def test_a_session_needs_the_token_of_its_forms(person: Person, repository: MemoryRepository) -> None:
    client = Client(enforce_csrf_checks=True, headers={"host": "localhost"})
    client.force_login(person("curator"), backend=BACKEND)

    assert post(client, "memories", payload()).status_code == 403


@pytest.mark.parametrize(
    ("accepts", "compressed"),
    [("gzip", True), ("gzip;q=0", False), ("br, gzip; q=0.0", False), ("gzip;q=0.5", True), ("", False)],
)
def test_answers_are_compressed_for_who_takes_it(curator: Client, accepts: str, compressed: bool) -> None:
    answer = curator.get("/api/openapi.json", headers={"accept-encoding": accepts})

    assert answer.has_header("Content-Encoding") is compressed
    assert "Accept-Encoding" in answer["Vary"]


def test_pages_are_not_compressed(curator: Client, repository: MemoryRepository) -> None:
    answer = curator.get("/memories/", headers={"accept-encoding": "gzip"})

    assert not answer.has_header("Content-Encoding")
