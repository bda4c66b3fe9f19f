"""Filling in the form of a memory as a browser without a script does."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse

if TYPE_CHECKING:
    from django.test import Client

Attributes = dict[str, str]


@dataclass
class Element:
    tag: str
    attributes: Attributes
    text: str = ""


@dataclass
class Screen:
    """A page taken apart: every element, its words, and the fields of the form of a memory in order."""

    status: int
    elements: list[Element] = field(default_factory=list)
    words: str = ""
    fields: list[tuple[str, str]] = field(default_factory=list)

    def with_id(self, name: str) -> Element:
        return next(each for each in self.elements if each.attributes.get("id") == name)

    def has_id(self, name: str) -> bool:
        return any(each.attributes.get("id") == name for each in self.elements)

    def values(self, name: str) -> list[str]:
        return [value for field_name, value in self.fields if field_name == name]

    def problem(self, place: str) -> str:
        return self.with_id(f"e-{place}").text.strip()

    def links(self, address: str) -> list[Element]:
        return [each for each in self.elements if each.attributes.get("href") == address]

    @property
    def focused(self) -> str:
        return next((e.attributes["id"] for e in self.elements if "autofocus" in e.attributes), "")


class _Reader(HTMLParser):
    _VOID = frozenset({"input", "img", "meta", "link", "br", "hr", "path", "circle"})

    _INLINE = frozenset({"code", "span", "ins", "del", "b"})

    def __init__(self, screen: Screen) -> None:
        super().__init__()
        self.screen = screen
        self._open: list[Element] = []
        self._form: str | None = None
        self._select: Element | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.screen.elements.append(element)
        if tag not in self._INLINE:
            self.screen.words += " "
        given = element.attributes
        if tag == "form":
            self._form = given.get("id", "")
        if self._form == "memory-form" and "name" in given:
            self._field(element)
        if tag == "option" and self._select is not None:
            self._option(element)
        if tag not in self._VOID:
            self._open.append(element)

    def _field(self, element: Element) -> None:
        given = element.attributes
        if element.tag == "select":
            self._select = element
            self.screen.fields.append((given["name"], ""))
        elif element.tag == "textarea":
            self.screen.fields.append((given["name"], ""))
        elif element.tag == "input" and (given.get("type") != "radio" or "checked" in given):
            self.screen.fields.append((given["name"], given.get("value", "")))

    def _option(self, element: Element) -> None:
        if "selected" in element.attributes and self.screen.fields:
            self.screen.fields[-1] = (self.screen.fields[-1][0], element.attributes.get("value", "\0"))

    def handle_endtag(self, tag: str) -> None:
        while self._open:
            closed = self._open.pop()
            if closed.tag == "textarea" and self._form == "memory-form":
                # The line break after the tag is the markup's, as browsers read it.
                self.screen.fields[-1] = (closed.attributes["name"], closed.text.removeprefix("\n"))
            if closed.tag == "select":
                self._select = None
            if closed.tag == tag:
                break
        if tag not in self._INLINE:
            self.screen.words += " "
        if tag == "form":
            self._form = None

    def handle_data(self, data: str) -> None:
        self.screen.words += data
        for element in self._open:
            element.text += data
        if self.screen.fields and self.screen.fields[-1][1] == "\0":
            self.screen.fields[-1] = (self.screen.fields[-1][0], data)


def screen(answer: HttpResponse) -> Screen:
    """What an answer shows."""
    shown = Screen(answer.status_code)
    _Reader(shown).feed(answer.content.decode())
    shown.words = " ".join(shown.words.split())
    return shown


def post(client: Client, address: str, form: Screen, *, edit: str = "", **typed: Any) -> HttpResponse:
    """Send the form with what is typed over it; a list stands for a field that is there several times.
    ``edit`` presses a button of the form, else it is saved."""
    sent: dict[str, list[str]] = {}
    for name, value in form.fields:
        sent.setdefault(name, []).append(value)
    for name, value in typed.items():
        sent[name] = list(value) if isinstance(value, (list, tuple)) else [value]
    if edit:
        sent["edit"] = [edit]
    return client.post(address, sent)
