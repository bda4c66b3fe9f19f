"""What a browser would act on in a page: elements, attributes, addresses. Read with the standard parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

ADDRESSES = frozenset({
    "href", "src", "action", "formaction", "xlink:href", "poster", "data", "cite", "background", "ping",
    "srcset", "manifest",
    "hx-get", "hx-post", "hx-put", "hx-patch", "hx-delete", "hx-push-url", "hx-replace-url",
})  # fmt: skip
"""Attributes that hold an address that a click or the page itself follows."""

OUR_SCRIPTS = ("/static/", "/manage/jsi18n/")
"""Where scripts come from: our files, and the admin's own translations."""

_IGNORED_IN_ADDRESSES = re.compile(r"[\x00-\x20]")
_COMPUTED = frozenset({"hx-vals", "hx-headers", "hx-trigger", "hx-request", "hx-confirm"})
_SCRIPTED = ("js:", "javascript:")
_NEVER = frozenset({"iframe", "frame", "object", "embed", "applet", "base", "style", "math", "marquee"})


@dataclass(frozen=True)
class Tag:
    name: str
    attributes: tuple[tuple[str, str], ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.attributes)

    @property
    def htmx(self) -> frozenset[str]:
        return frozenset(name for name in self.names if name.startswith(("hx-", "data-hx-")))

    def get(self, name: str) -> str:
        return dict(self.attributes).get(name, "")


@dataclass
class Structure(HTMLParser):
    """The tags of a page, the text within script elements and outside, and the names of the fields of its
    forms: those that ask (GET) and those that post."""

    tags: list[Tag] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    asks: set[str] = field(default_factory=set)
    posts: set[str] = field(default_factory=set)
    _in_script: bool = False
    _fields: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(Tag(tag, tuple((name, value or "") for name, value in attrs)))
        self._in_script = tag == "script"
        given = dict(attrs)
        if tag == "form":
            self._fields = self.posts if given.get("method") == "post" else self.asks
        if tag in ("input", "select", "textarea", "button") and given.get("name"):
            self._fields.add(str(given["name"]))

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        (self.scripts if self._in_script else self.words).append(data)

    @property
    def shapes(self) -> frozenset[tuple[str, frozenset[str]]]:
        """Which elements carry which htmx attributes."""
        return frozenset((tag.name, tag.htmx) for tag in self.tags if tag.htmx)

    @property
    def elements(self) -> frozenset[str]:
        return frozenset(tag.name for tag in self.tags)


def structure(content: str) -> Structure:
    read = Structure()
    read.feed(content)
    read.close()
    return read


def dangers(read: Structure) -> Iterator[str]:
    """Everything a browser might run or follow elsewhere, in words; nothing on a page of ours."""
    yield from (f"script text {text!r}" for text in read.scripts if text.strip())
    for tag in read.tags:
        yield from _of_tag(tag)


def _of_tag(tag: Tag) -> Iterator[str]:
    if tag.name in _NEVER:
        yield f"<{tag.name}>"
    if tag.name == "script" and not tag.get("src").startswith(OUR_SCRIPTS):
        yield f"script from {tag.get('src')!r}"
    # A number alone loads the same page again, which is how a job's page goes on without a script.
    if tag.name == "meta" and "http-equiv" in tag.names and not tag.get("content").isdecimal():
        yield f"meta http-equiv {tag.get('http-equiv')!r}"
    for name, value in tag.attributes:
        if name.startswith(("on", "hx-on", "data-hx-on")) or name in ("style", "srcdoc", "hx-vars", "hx-ext"):
            yield f"<{tag.name} {name}={value!r}>"
        if name in ADDRESSES and not _stays(value):
            yield f"<{tag.name} {name}={value!r}>"
        if name in _COMPUTED and _IGNORED_IN_ADDRESSES.sub("", value).lower().startswith(_SCRIPTED):
            yield f"<{tag.name} {name}={value!r}>"


def _stays(address: str) -> bool:
    """Whether an address leads to this site: a path, a query, a place on the page."""
    plain = _IGNORED_IN_ADDRESSES.sub("", address).replace("\\", "/")
    if plain in ("true", "false"):
        return True
    return not plain.startswith("//") and (plain == "" or plain[0] in "/?#")
