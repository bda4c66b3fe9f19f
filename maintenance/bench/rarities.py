"""``python -m maintenance.bench.rarities``: makes the word rarities that search ships.

Needs the package wordfreq (here only: what is shipped are the values). Words are folded as search folds them;
spellings that fall together keep the highest value.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from importlib import import_module, resources
from pathlib import Path

from memories.retrieval.rarity import LANGUAGES
from memories.text.folding import fold
from memories.text.languages import Language

WORDS_A_LANGUAGE = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m maintenance.bench.rarities", description=__doc__)
    default = Path(str(resources.files("memories.retrieval").joinpath("data")))
    parser.add_argument("--into", type=Path, default=default, help="the folder to write to")
    folder = parser.parse_args().into
    for language in LANGUAGES:
        path = folder / f"rarity.{language}.txt"
        path.write_text("\n".join(lines(frequent(language))) + "\n", encoding="utf-8")
        print(f"{path.name}: {path.stat().st_size:,} bytes")


def frequent(language: Language) -> dict[str, float]:
    """Folded word → Zipf value of the most frequent words that are letters throughout."""
    wordfreq = import_module("wordfreq")
    kept: dict[str, float] = {}
    for word in wordfreq.iter_wordlist(str(language)):
        folded = fold(word)
        if folded.isalpha() and folded not in kept:
            kept[folded] = wordfreq.zipf_frequency(word, str(language))
        if len(kept) == WORDS_A_LANGUAGE:
            break
    return kept


def lines(values: dict[str, float]) -> Iterable[str]:
    """Words under their value in tenths, most frequent first: a tenth is finer than the sources agree."""
    by_tenths: dict[int, list[str]] = {}
    for word, value in values.items():
        by_tenths.setdefault(round(value * 10), []).append(word)
    for tenths in sorted(by_tenths, reverse=True):
        yield f"{tenths}\t{' '.join(sorted(by_tenths[tenths]))}"


if __name__ == "__main__":
    main()
