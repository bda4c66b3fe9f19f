"""Files made to do harm: refused before anything is written, with an error of ours."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.contract import ErrorCode, MemsuiteError
from memories.interchange import System, export_jsonl, import_from
from memories.interchange.archives import unpacked
from memories.interchange.documents import elements
from memories.interchange.readers import reader_of
from memories.interchange.safe_json import LINE_MAX, bounded_lines, parsed
from memories.interchange.sources import require_plain_inside, source_at
from memories.repository import Author
from tests.interchange.conftest import Made

Maker = Callable[..., dict[str, Any]]


def packed(path: Path, *entries: tuple[str, bytes], mode: int = 0) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in entries:
            entry = zipfile.ZipInfo("x")
            # As it is to stand in the archive; the constructor would tidy it.
            entry.filename = name
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, content)
    return path


@pytest.mark.parametrize(
    "name",
    [
        "../out",
        "a/../../out",
        "/etc/out",
        "C:/out",
        "a\\..\\out",
        "con",
        "a/NUL.txt",
        "lpt1.log",
        "a//b",
        "./a",
        "a/\x07",
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    before = set(tmp_path.rglob("*"))
    path = packed(tmp_path / "p.zip", ("good", b"1"), (name, b"2"))
    with pytest.raises(MemsuiteError) as refused, unpacked(path):
        pytest.fail("it was unpacked")
    assert refused.value.code is ErrorCode.INVALID_PARAMETER
    assert set(tmp_path.rglob("*")) - before == {path}


def test_a_name_with_a_nul_in_it_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "p.zip", ("goodXname", b"1"))
    path.write_bytes(path.read_bytes().replace(b"goodXname", b"good\0name"))
    with pytest.raises(MemsuiteError), unpacked(path):
        pytest.fail("it was unpacked")


def test_a_link_in_an_archive_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "p.zip", ("link", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777)
    with pytest.raises(MemsuiteError), unpacked(path):
        pytest.fail("it was unpacked")


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "p.zip", ("zeros", b"\0" * 30_000_000))
    with pytest.raises(MemsuiteError) as refused, unpacked(path):
        pytest.fail("it was unpacked")
    assert refused.value.code is ErrorCode.PAYLOAD_TOO_LARGE


def test_an_archive_that_lies_about_its_sizes_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "p.zip", ("zeros", b"\0" * 3_000_000))
    data = path.read_bytes()
    path.write_bytes(data.replace((3_000_000).to_bytes(4, "little"), (1_000).to_bytes(4, "little")))
    with pytest.raises(MemsuiteError), unpacked(path):
        pytest.fail("it was unpacked")


def test_a_plain_archive_is_a_source(tmp_path: Path, older_export: Path) -> None:
    path = packed(tmp_path / "p.zip", ("export.json", older_export.read_bytes()))
    with unpacked(path) as inside:
        assert inside.read_bytes() == older_export.read_bytes()
    assert not inside.exists()


@pytest.mark.parametrize("text", ["", "missing", "a\0b", "/dev/null", "~nobody-there/x"])
def test_what_is_no_file_or_directory_is_no_source(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if text == "":
        text = str(tmp_path / "pipe")
        os.mkfifo(text)
    with pytest.raises(MemsuiteError) as refused:
        source_at(text)
    assert refused.value.code is ErrorCode.INVALID_PARAMETER


def test_a_link_inside_a_directory_is_refused(made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "suite" / "memories.lance"
    folder.mkdir(parents=True)
    (folder / "data").symlink_to("/etc")
    with pytest.raises(MemsuiteError):
        require_plain_inside(tmp_path / "suite")
    with pytest.raises(MemsuiteError):
        import_from(made("target"), tmp_path / "suite", System.SUITE)


def test_builtin_files_that_are_links_are_refused(made: Made, tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").symlink_to("/etc/passwd")
    with pytest.raises(MemsuiteError):
        import_from(made("target"), tmp_path, System.HERMES_BUILTIN)


class Endless(io.RawIOBase):
    """Two gigabytes without a line end, of which only what is asked for exists."""

    def __init__(self) -> None:
        self.given = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        assert size is not None and 0 < size <= LINE_MAX + 1
        self.given += size
        return b"x" * min(size, 2**31)


def test_an_endless_line_is_refused_without_being_held() -> None:
    file = Endless()
    with pytest.raises(MemsuiteError) as refused:
        list(bounded_lines(file))  # type: ignore[arg-type]
    assert refused.value.code is ErrorCode.PAYLOAD_TOO_LARGE
    assert file.given == LINE_MAX + 1


@pytest.mark.parametrize("system", [System.JSONL, System.MEMSUITE, System.SUITE_JSON])
def test_a_line_longer_than_any_row_is_refused(made: Made, tmp_path: Path, system: System) -> None:
    path = tmp_path / "long"
    with path.open("wb") as file:
        file.write(b'{"memories": [{"a":"')
        file.write(b"x" * (3 * LINE_MAX))
        file.write(b'"}]}')
    store = made("target")
    with pytest.raises(MemsuiteError) as refused:
        import_from(store, path, system)
    assert refused.value.code is ErrorCode.PAYLOAD_TOO_LARGE
    assert store.count() == 0


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 50 + "1" + "}" * 50,
        "NaN",
        "-Infinity",
        "1e999",
        "9" * 5_000,
        '"\\ud800',
        "{",
        "\xff",
    ],
)
def test_what_json_cannot_say_is_refused(text: str) -> None:
    with pytest.raises(MemsuiteError) as refused:
        parsed(text.encode("latin-1"), "line 1")
    assert refused.value.code is ErrorCode.INVALID_TYPE


@pytest.mark.parametrize(
    "text", ["[]", '{"memories": [', '{"memories": [{}', '{"memories" 1}', "", '{"a": [1 2]}', "\xff{"]
)
def test_a_document_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "d.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(MemsuiteError) as refused:
        list(elements(tmp_path / "d.json"))
    assert refused.value.code is ErrorCode.INVALID_TYPE


def test_a_document_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memories.interchange.documents.CHUNK", 7)
    value = {
        "count": 12345,
        "memories": [{"é漢": "x" * 50}, {"n": [1, {"m": 2}]}],
        "note": "[}",
        "edges": [1, 22, "a"],
    }
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=2)):
        (tmp_path / "d.json").write_text(text, encoding="utf-8")
        found = [(name, element) for name, _, element in elements(tmp_path / "d.json")]
        assert found == [("memories", e) for e in value["memories"]] + [("edges", e) for e in value["edges"]]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("memories", "tier", 4),
        ("memories", "tier", 10**30),
        ("memories", "quality", "high"),
        ("memories", "quality", 7.0),
        ("memories", "created_at", "0001-01-01T00:00:00+00:00"),
        ("memories", "created_at", None),
        ("memories", "id", "../../etc"),
        ("memories", "id", ""),
        ("memories", "id", "x" * 500),
        ("memories", "id", "a b"),
        ("memories", "revision", -1),
        ("memories", "generation", 2**70),
        ("memories", "facts", ["x" * 5_000]),
        ("memories", "facts", "text"),
        ("memories", "fingerprint", "zz"),
        ("memories", "vector", "not base64!"),
        ("memories", "vector", ""),
        ("memory_edges", "edge_key", "0" * 64),
        ("memory_edges", "relation_type", "eats"),
        ("memory_revisions", "before", "{}"),
        ("memory_revisions", "before", "[" * 9_999),
        ("usage", "recalls", -5),
        ("usage", "day", "yesterday"),
        ("memories", "surplus", 1),
    ],
)
def test_a_value_no_row_of_ours_has_is_set_aside(
    made: Made, payload: Maker, author: Author, tmp_path: Path, table: str, column: str, value: Any
) -> None:
    source = made("source")
    name = source.add(payload("a", relations=[{"type": "uses", "target": "Orchard:b"}]), author).memory_id
    source.update(name, {"facts": ["other"]}, author, patch=True)
    source.usage.record_recall([name])
    path = export_jsonl(source, tmp_path / "e.jsonl", vectors=True).path
    _spoil(path, table, column, value)
    report = import_from(made("target"), path, System.MEMSUITE)
    assert sum(report.quarantined.values()) == 1


def _spoil(path: Path, table: str, column: str, value: Any) -> None:
    """Change one column of the first row of a table, and the header with it, as a forger would."""
    import hashlib

    header_line, *lines = path.read_bytes().splitlines(keepends=True)
    header = json.loads(header_line)
    rows = [json.loads(line) for line in lines]
    row = next(row for row in rows if row["table"] == table)
    row["row"][column] = value
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for row in rows]
    of_table = b"".join(line for line, row in zip(lines, rows, strict=True) if row["table"] == table)
    header["tables"][table]["sha256"] = hashlib.sha256(of_table).hexdigest()
    path.write_bytes(json.dumps(header).encode() + b"\n" + b"".join(lines))


def read_as(system: System, write: Callable[[BinaryIO], object], folder: Path) -> None:
    path = folder / "fuzzed"
    with path.open("wb") as file:
        write(file)
    try:
        for _ in reader_of(system, path).items():
            pass
    except MemsuiteError:
        return


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "content",
                    "table",
                    "row",
                    "memories",
                    "typed_edges",
                    "conflicts",
                    "relations",
                    "created_at",
                    "facts",
                    "from",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(
    values=st.lists(JSON, max_size=4),
    system=st.sampled_from([System.JSONL, System.SUITE_JSON, System.MEMSUITE]),
)
@settings(max_examples=150, deadline=None)
def test_readers_raise_nothing_but_errors_of_ours(
    values: list[Any], system: System, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    if system is System.SUITE_JSON:
        document = {"memories": values, "typed_edges": values, "conflicts": values}
        read_as(
            system, lambda file: file.write(json.dumps(document).encode("utf-8", "surrogatepass")), folder
        )
        return
    text = "\n".join(json.dumps(value) for value in values)
    read_as(system, lambda file: file.write(text.encode("utf-8", "surrogatepass")), folder)


@given(
    data=st.binary(max_size=200),
    system=st.sampled_from([s for s in System if s not in (System.SUITE, System.MEMPALACE, System.NEXUS)]),
)
@settings(max_examples=150, deadline=None)
def test_bytes_raise_nothing_but_errors_of_ours(
    data: bytes, system: System, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    if system is System.HERMES_BUILTIN:
        (folder / "MEMORY.md").write_bytes(data)
        list(reader_of(system, folder / "MEMORY.md").items())
        return
    try:
        read_as(system, lambda file: file.write(data), folder)
    except MemsuiteError:
        return
