"""What deciding about an item of the review does: each recorded in the audit, each with its undo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.http import HttpRequest
from django.utils import timezone

from memories.analysis.broken_relations import broken_relations
from memories.console.audit import recorded
from memories.console.curation_models import Dismissal
from memories.console.repository_access import author
from memories.console.review_cards import proposed_facts
from memories.console.review_inbox import Item, Kind
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import BulkChange, BulkResult, MemoryRepository
from memories.repository.quarantine import ACCEPTED
from memories.repository.write_context import relations_of


@dataclass(frozen=True, slots=True)
class Done:
    """What was done, in a sentence, and the operation that can be undone ("" for what is none)."""

    says: str
    operation_id: str = ""


def accept(request: HttpRequest, store: MemoryRepository, item: Item) -> Done:
    """Do what is proposed for an item. Raises ``invalid_parameter`` where nothing is."""
    deed = _ACCEPT.get(item.kind)
    if deed is None:
        raise _nothing_proposed()
    return deed(request, store, item)


def trash(request: HttpRequest, store: MemoryRepository, item: Item) -> Done:
    return _applied(request, store, item, "trash", f"Moved {item.name} to the trash")


def dismiss(request: HttpRequest, item: Item) -> int:
    """Put an item aside until what it is about changes; the key that takes it back."""
    parameters = {"kind": str(item.kind), "item": item.id}
    with recorded(request, "dismiss", ids=item.memory_ids, parameters=parameters) as event:
        row, _ = Dismissal.objects.update_or_create(
            kind=str(item.kind),
            item=item.id,
            defaults={
                "state": item.state,
                "actor": author(request.user).actor,
                "at": timezone.now(),
            },
        )
        event.complete(unchanged=len(item.memory_ids), operation_id="")
    return row.pk


def take_back(request: HttpRequest, key: int) -> bool:
    """Bring a dismissed item back; False where it was back already."""
    row = Dismissal.objects.filter(pk=key).first()
    if row is None:
        return False
    parameters = {"kind": row.kind, "item": row.item}
    with recorded(request, "undismiss", parameters=parameters) as event:
        row.delete()
        event.complete(operation_id="")
    return True


# --- by kind --------------------------------------------------------------------------------


def _mend_drift(request: HttpRequest, store: MemoryRepository, item: Item) -> Done:
    facts = proposed_facts(store, item.id)
    if not facts:
        raise _nothing_proposed()
    return _updated(request, store, item, {"facts": list(facts)}, f"Accepted {item.name}")


def _remove_broken(request: HttpRequest, store: MemoryRepository, item: Item) -> Done:
    broken = store.read(broken_relations).get(item.id, ())
    bad = {(relation.type, relation.target) for relation in broken}
    kept = [
        relation
        for relation in store.read(lambda snapshot: relations_of(snapshot, item.id))
        if (str(relation.type), relation.target or relation.target_id) not in bad
    ]
    payload: dict[str, object] = {"relations": [relation.as_dict() for relation in kept]}
    many = "relation" if len(broken) == 1 else "relations"
    return _updated(request, store, item, payload, f"Removed {len(broken)} {many} of {item.name}")


def _to_trash(request: HttpRequest, store: MemoryRepository, item: Item) -> Done:
    return trash(request, store, item)


def _is_fine(request: HttpRequest, store: MemoryRepository, item: Item) -> Done:
    return _applied(request, store, item, "mark_reviewed", f"Marked {item.name} as reviewed")


def _import_is_stored(request: HttpRequest, store: MemoryRepository, item: Item) -> Done:
    with recorded(request, "accept_import", parameters={"row": item.id}) as event:
        store.quarantine.settle(item.id, event.author, ACCEPTED)
        event.complete(changed=1)
    return Done(f"Done with {item.name}")


_ACCEPT: Mapping[Kind, Callable[[HttpRequest, MemoryRepository, Item], Done]] = {
    Kind.DRIFT: _mend_drift,
    Kind.BROKEN: _remove_broken,
    Kind.JUNK: _to_trash,
    Kind.INSTRUCTION: _is_fine,
    Kind.UNVERIFIED: _is_fine,
    Kind.IMPORT: _import_is_stored,
}


def _updated(
    request: HttpRequest, store: MemoryRepository, item: Item, payload: dict[str, object], says: str
) -> Done:
    parameters = {"fields": sorted(payload), "kind": str(item.kind)}
    with recorded(request, "update", ids=[item.id], parameters=parameters) as event:
        result = store.update(item.id, payload, event.author, patch=True)
        written = bool(result.operation_id)
        event.complete(changed=int(written), unchanged=int(not written), operation_id=result.operation_id)
    return Done(says, result.operation_id)


def _applied(request: HttpRequest, store: MemoryRepository, item: Item, action: str, says: str) -> Done:
    with recorded(request, action, ids=item.memory_ids, parameters={"kind": str(item.kind)}) as event:
        result: BulkResult = store.apply(BulkChange.of(action), item.memory_ids, event.author)
        event.complete(
            changed=len(result.changed),
            unchanged=len(result.unchanged),
            refused=len(result.refused),
            operation_id=result.operation_id,
        )
    for error in result.refused.values():
        raise error
    return Done(says, result.operation_id)


def _nothing_proposed() -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER, "do", "Nothing is proposed for this any more. Edit it, or dismiss it."
    )
