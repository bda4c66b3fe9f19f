"""Memory text stays text on these pages, whatever it holds and wherever it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.memory_forms import Screen, post, screen
from console.samples import AUTHOR, payload

from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs
    from django.test import Client

PAYLOADS = (
    "<script>alert(1)</script>",
    "<SCRIPT src=//x.example/a.js></SCRIPT>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '" autofocus onfocus="alert(1)',
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=//x.example></object>",
    "<embed src=//x.example>",
    "<base href=//x.example/>",
    "<meta http-equiv=refresh content=0>",
    "<form action=//x.example><input name=fact>",
    '<a href="javascript&#58;alert(1)">x</a>',
    '<div hx-get="/" hx-trigger="load">',
    '<b hx-on::load="alert(1)">',
    "</textarea><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</option></select><img src=x onerror=alert(1)>",
    "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "{{ 7|add:7 }}{% now 'Y' %}",
    "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
    "<details open ontoggle=alert(1)>",
)

FORBIDDEN = frozenset({"iframe", "object", "embed", "base", "img", "math", "mtext", "style"})


@pytest.fixture
def curator(client_as: ClientAs) -> Client:
    return client_as("curator")


def dangers(shown: Screen) -> list[str]:
    """What a browser would act on that is not ours."""
    found = [e.tag for e in shown.elements if e.tag in FORBIDDEN]
    for element in shown.elements:
        if element.tag == "script" and not element.attributes.get("src", "").startswith("/static/"):
            found.append("script")
        for name, value in element.attributes.items():
            if name.startswith(("on", "hx-on")) or name in ("style", "srcdoc"):
                found.append(f"{element.tag} {name}")
            if name in ("href", "src", "action", "formaction", "hx-get", "hx-post") and not ours(value):
                found.append(f"{element.tag} {name}={value}")
    return found


def ours(address: str) -> bool:
    return (address.startswith("/") and not address.startswith("//")) or address.startswith("#")


@pytest.mark.parametrize("text", PAYLOADS)
def test_stored_text_is_text(text: str, curator: Client, repository: MemoryRepository) -> None:
    label = text.replace(":", "").replace("[", "").replace("]", "")[:32]
    relations = [{"type": "uses", "target": text}]
    given = payload(label, domain=label, facts=[text, f"key={text}"], tags=[text], type=text)
    stored = repository.add(given | {"relations": relations}, AUTHOR).memory_id
    repository.update(stored, {"facts": ["plain"]}, AUTHOR, patch=True)
    repository.update(stored, {"facts": [text]}, AUTHOR, patch=True)

    shown = screen(curator.get(f"/memories/{stored}/"))

    assert dangers(shown) == []
    assert shown.values("fact") == [text]
    assert shown.values("type") == [text]
    assert text in shown.values("tag")
    assert shown.values("relation_label") == [text]
    title = next(e for e in shown.elements if e.tag == "title")
    assert title.text.strip() == "Memory · Memory console"


@pytest.mark.parametrize("text", PAYLOADS)
def test_typed_text_is_text_in_every_field(text: str, curator: Client, repository: MemoryRepository) -> None:
    names = ("domain", "subject", "fact", "category", "type", "quality", "tag", "new_tag", "new_relation")
    form = screen(curator.get("/memories/add/"))
    typed = {name: [text] for name in (*names, "base_revision", "relation_label", "relation_type")}

    for address, edit in (
        ("/memories/add/", ""),
        ("/memories/add/", "check"),
        ("/memories/add/preview/", ""),
    ):
        shown = screen(post(curator, address, form, edit=edit, **typed, relation_id=[""]))
        assert dangers(shown) == []
        if address == "/memories/add/":
            assert {name: shown.values(name) for name in names} == {name: [text] for name in names}


@pytest.mark.parametrize("text", PAYLOADS)
def test_both_versions_are_text(text: str, curator: Client, repository: MemoryRepository) -> None:
    stored = repository.add(payload(facts=[f"{text} before"]), AUTHOR).memory_id
    form = screen(curator.get(f"/memories/{stored}/"))
    repository.update(stored, {"facts": [f"{text} theirs"], "tags": [text]}, AUTHOR, patch=True)

    answer = post(curator, f"/memories/{stored}/", form, fact=[f"{text} mine"], type=text, tag=[f"x{text}"])
    shown = screen(answer)

    assert answer.status_code == 409
    assert dangers(shown) == []
