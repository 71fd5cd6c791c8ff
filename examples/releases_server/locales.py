"""The locales of the App Store: which there are, and which one a folder is meant for."""

import re
from collections.abc import Collection

# fmt: off
LOCALES = (
    "ar-SA", "bn-BD", "ca", "cs", "da", "de-DE", "el", "en-AU", "en-CA", "en-GB", "en-US", "es-ES", "es-MX", "fi",
    "fr-CA", "fr-FR", "gu-IN", "he", "hi", "hr", "hu", "id", "it", "ja", "kn-IN", "ko", "ml-IN", "mr-IN", "ms",
    "nl-NL", "no", "or-IN", "pa-IN", "pl", "pt-BR", "pt-PT", "ro", "ru", "sk", "sl-SI", "sv", "ta-IN", "te-IN",
    "th", "tr", "uk", "ur-PK", "vi", "zh-Hans", "zh-Hant",
)
# fmt: on
"""The shortcodes that App Store Connect takes, as of 2026."""

_USUAL = {"en": "en-US", "es": "es-ES", "fr": "fr-FR", "pt": "pt-BR", "zh": "zh-Hans"}
_OLD = {"iw": "he", "in": "id", "nb": "no", "nn": "no", "cmn": "zh"}
_TRADITIONAL = frozenset({"hant", "tw", "hk", "mo"})


def locale_of(name: str, further: Collection[str] = ()) -> str | None:
    """The locale that a name spells, whatever the case of its letters; `further` ones are known besides those above."""
    known = {each.casefold(): each for each in (*further, *LOCALES)}
    return known.get(name.casefold())


def suggest_locale(name: str) -> str | None:
    """The locale that somebody meant who wrote a name that is none, such as `ar` or `en_US`."""
    language, *rest = re.split(r"[-_.]", name.casefold())
    language = _OLD.get(language, language)
    if found := locale_of("-".join([language, *rest])):
        return found
    if language == "zh" and _TRADITIONAL & set(rest):
        return "zh-Hant"
    if language in _USUAL:
        return _USUAL[language]
    same = [each for each in LOCALES if each.casefold().split("-")[0] == language]
    return same[0] if same else None
