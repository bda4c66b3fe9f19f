"""The changes a person can make to many memories: who may, what value each wants, and its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser, User
from django.http import QueryDict
from django.utils.http import urlencode

from memories.console.access import allows
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Action, BulkChange


@dataclass(frozen=True, slots=True)
class Kind:
    """One action as a form offers it. ``wants`` names the control of its value: "" for none, ``tags``,
    ``merge`` (tags and what they become), ``category``, ``type``, ``tier``, ``quality`` or ``memory``."""

    action: Action
    label: str
    permission: str = "memories.change_memory"
    wants: str = ""
    danger: bool = False


KINDS: Mapping[Action, Kind] = {
    kind.action: kind
    for kind in (
        Kind(Action.ADD_TAGS, "Add tags", wants="tags"),
        Kind(Action.REMOVE_TAGS, "Remove tags", wants="tags"),
        Kind(Action.MERGE_TAGS, "Merge tags", "memories.merge_tags", wants="merge"),
        Kind(Action.SET_CATEGORY, "Set category", wants="category"),
        Kind(Action.SET_TYPE, "Set type", wants="type"),
        Kind(Action.SET_TIER, "Set tier", wants="tier"),
        Kind(Action.SET_QUALITY, "Set quality", wants="quality"),
        Kind(Action.MARK_REVIEWED, "Mark reviewed"),
        Kind(Action.SUPERSEDE, "Supersede by", wants="memory"),
        Kind(Action.TRASH, "Move to trash", "memories.delete_memory", danger=True),
        Kind(Action.RESTORE, "Restore", "memories.delete_memory"),
    )
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A change as a form or an address says it. ``value`` is what a person typed, of tags a list parted by
    commas; ``tags`` are exact tags, which may hold commas, ``target`` is what merged ones become."""

    action: str = ""
    value: str = ""
    tags: tuple[str, ...] = ()
    target: str = ""

    @classmethod
    def of(cls, query: QueryDict) -> Asked:
        action, value, target = (query.get(name, "").strip() for name in ("action", "value", "target"))
        return cls(action, value, tuple(query.getlist("tag")), target)

    @property
    def kind(self) -> Kind | None:
        """What is asked for; None for an action that does not exist."""
        return KINDS.get(Action(self.action)) if self.action in list(Action) else None

    @property
    def is_complete(self) -> bool:
        """Whether it names an action with the value that one wants; the value may still be refused."""
        if self.kind is None or not self.kind.wants:
            return bool(self.action)
        return bool(self.target) if self.kind.wants == "merge" else bool(self.value or self.tags)

    def pairs(self) -> list[tuple[str, str]]:
        """The query that reads as this."""
        given = [("action", self.action), ("value", self.value), ("target", self.target)]
        return [(name, text) for name, text in given if text] + [("tag", tag) for tag in self.tags]

    def address(self, url: str) -> str:
        return f"{url}?{urlencode(self.pairs())}" if self.action else url

    def change(self) -> BulkChange:
        """The checked change. Raises ``invalid_parameter`` or what the contract says of the value."""
        wants = self.kind.wants if self.kind else ""
        value = self._tags() if wants in ("tags", "merge") else _READ.get(wants, str)(self.value)
        return BulkChange.of(self.action, value, target=self.target)

    def _tags(self) -> list[str]:
        typed = [tag.strip() for tag in self.value.split(",") if tag.strip()]
        tags = [*self.tags, *typed]
        if not tags:
            raise MemsuiteError(ErrorCode.REQUIRED_FIELD, "value", "Name at least one tag.", expected="tags")
        return tags


def may_apply(user: User | AnonymousUser, kind: Kind) -> bool:
    return allows(user, kind.permission)


def _tier(text: str) -> object:
    return int(text) if text.isascii() and text.isdigit() else text


def _quality(text: str) -> object:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text


_READ: Mapping[str, Callable[[str], object]] = {"tier": _tier, "quality": _quality}


# --- words ---------------------------------------------------------------------------


def memories(count: int) -> str:
    """``1 memory``, ``1,204 memories``."""
    return f"{count:,} memory" if count == 1 else f"{count:,} memories"


def tags_named(tags: tuple[str, ...]) -> str:
    """``the tag “api”``, ``the tags “api”, “tide” and 3 more``: a tag may be several words."""
    if len(tags) == 1:
        return f"the tag “{tags[0]}”"
    more = f" and {len(tags) - 3:,} more" if len(tags) > 3 else ""
    return f"the tags {', '.join(f'“{tag}”' for tag in tags[:3])}{more}"


def title(change: BulkChange, count: int) -> str:
    """What is about to happen: ``Add the tag “api” to 1,204 memories``."""
    return _sentence(change, memories(count), _WILL)


def button(change: BulkChange, count: int) -> str:
    """The verb of the confirming button, with the count."""
    return f"{_VERBS[change.action]} {memories(count)}"


def told(change: BulkChange, count: int) -> str:
    """What has happened: ``Added the tag “api” to 1,204 memories``."""
    return _sentence(change, memories(count), _DID)


def _sentence(change: BulkChange, these: str, forms: Mapping[Action, str]) -> str:
    value = {
        "tags": tags_named(change.tags),
        "these": these,
        "target": change.target,
        "category": change.category,
        "type": change.type,
        "tier": int(change.tier or 0),
        "quality": f"{change.quality or 0:g}",
    }
    return forms[change.action].format(**value)


_WILL = {
    Action.ADD_TAGS: "Add {tags} to {these}",
    Action.REMOVE_TAGS: "Remove {tags} from {these}",
    Action.MERGE_TAGS: "Make {tags} into “{target}” on {these}",
    Action.SET_CATEGORY: "Set the category {category} for {these}",
    Action.SET_TYPE: "Set the type {type} for {these}",
    Action.SET_TIER: "Set tier {tier} for {these}",
    Action.SET_QUALITY: "Set quality {quality} for {these}",
    Action.MARK_REVIEWED: "Mark {these} as reviewed",
    Action.SUPERSEDE: "Supersede {these}",
    Action.TRASH: "Move {these} to the trash",
    Action.RESTORE: "Restore {these} from the trash",
}

_DID = {
    Action.ADD_TAGS: "Added {tags} to {these}",
    Action.REMOVE_TAGS: "Removed {tags} from {these}",
    Action.MERGE_TAGS: "Made {tags} into “{target}” on {these}",
    Action.SET_CATEGORY: "Set the category {category} for {these}",
    Action.SET_TYPE: "Set the type {type} for {these}",
    Action.SET_TIER: "Set tier {tier} for {these}",
    Action.SET_QUALITY: "Set quality {quality} for {these}",
    Action.MARK_REVIEWED: "Marked {these} as reviewed",
    Action.SUPERSEDE: "Superseded {these}",
    Action.TRASH: "Moved {these} to the trash",
    Action.RESTORE: "Restored {these} from the trash",
}

_VERBS = {
    Action.ADD_TAGS: "Tag",
    Action.REMOVE_TAGS: "Untag",
    Action.MERGE_TAGS: "Retag",
    Action.SET_CATEGORY: "Change",
    Action.SET_TYPE: "Change",
    Action.SET_TIER: "Change",
    Action.SET_QUALITY: "Change",
    Action.MARK_REVIEWED: "Mark",
    Action.SUPERSEDE: "Supersede",
    Action.TRASH: "Trash",
    Action.RESTORE: "Restore",
}
