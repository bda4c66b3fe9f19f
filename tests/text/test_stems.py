from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from memories.text.folding import fold
from memories.text.languages import Language
from memories.text.normalise import index_text
from memories.text.query import analyse
from memories.text.stems import stem_language, stems


def finds(asked: str, fact: str) -> bool:
    found = set(index_text(domain="D", subject="S", facts=[fact], tags=[]).split())
    return all(term.variants & found for term in analyse(asked).terms)


@pytest.mark.parametrize(
    ("asked", "fact"),
    [
        ("dependencies", "The dependency is pinned"),
        ("searching", "She searched the index"),
        ("deployments", "We deployed it on Friday"),
        ("sauvegardes", "La sauvegarde est faite chaque nuit"),
        ("déployée", "Le service a été déployé par Marie"),
        ("deployee", "Il faut déployer avec le script"),
        ("journaux", "Le journal est dans le dossier"),
        ("avhengighet", "Prosjektet har mange avhengigheter"),
        ("innstillingene", "Hver innstilling er lagret her"),
        ("tjenester", "Tjenesten er ikke startet"),
        ("servere", "Serveren kjører på loftet"),
        ("Verbindungen", "Die Verbindung ist langsam"),
        ("Datenbank", "Wir haben zwei Datenbanken"),
        ("Schlüssel", "Die Schlüsseln sind nicht hier"),
        ("conexiones", "La conexión es lenta"),
        ("contrasena", "Las contraseñas están en el gestor"),
        ("utilizar", "El equipo utiliza este servidor"),
    ],
)
def test_inflected_forms_find_one_another(asked: str, fact: str) -> None:
    assert finds(asked, fact)


@pytest.mark.parametrize(
    ("asked", "fact"),
    [
        ("sock", "The socket is closed by the server"),
        ("mark", "The market is open"),
        ("depend", "The deep end is closed"),
    ],
)
def test_another_languages_stemmer_joins_no_unrelated_words(asked: str, fact: str) -> None:
    assert not finds(asked, fact)


def test_a_stem_never_equals_a_surface_word() -> None:
    assert stems("running", (Language.ENGLISH,)) == ("en^run",)
    assert stem_language("en^run") is Language.ENGLISH
    assert stem_language("run") is None


@pytest.mark.parametrize("word", ["it", "x1", "7777", "東京", "a" * 33, "the"])
def test_words_that_no_stemmer_knows_have_no_stem(word: str) -> None:
    assert stems(word, (Language.ENGLISH,)) == ()


def test_threads_share_no_stemmer() -> None:
    starts, ends = ("deploy", "connect", "search"), ("ed", "ing", "s", "er")
    words = [start + end for start in starts for end in ends] * 200
    alone = [stems(fold(word)) for word in words]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(stems, words)) == alone
