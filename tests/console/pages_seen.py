"""What a person sees of a page, taken from its HTML."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = frozenset({"input", "link", "meta", "br", "img", "hr"})


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    text: str = ""

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()


@dataclass
class Seen(HTMLParser):
    """The elements of a page in their order; ``text`` of each is all text within it."""

    elements: list[Element] = field(default_factory=list)
    _open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, tag: str = "", having: str = "", **attributes: str) -> list[Element]:
        """Elements of a tag that carry a class and attributes."""
        return [
            element
            for element in self.elements
            if tag in ("", element.tag)
            and (not having or having in element.classes)
            and all(element.attributes.get(name) == value for name, value in attributes.items())
        ]

    def one(self, tag: str = "", having: str = "", **attributes: str) -> Element:
        found = self.all(tag, having, **attributes)
        assert len(found) == 1, [element.attributes for element in found]
        return found[0]

    def link(self, text: str) -> str:
        """Where the one link with this text leads."""
        found = {
            element.attributes["href"] for element in self.all("a") if " ".join(element.text.split()) == text
        }
        assert len(found) == 1, found
        return found.pop()


def seen(content: bytes) -> Seen:
    page = Seen()
    page.feed(content.decode())
    return page
