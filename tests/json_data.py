"""Generated JSON data of every kind that a view can hold, with what is known to trip writers and readers."""

from typing import Any

from hypothesis import strategies as st

ODD_TEXTS = (
    *(
        "",
        " ",
        "a ",
        " a",
        "\t",
        "-",
        "--",
        "- a",
        "-a",
        "#",
        "# a",
        "#a",
        "[1]",
        "[]",
        "[2]:",
        "{}",
        "{a}",
        "key: value",
    ),
    *(":", ",", "|", "a,b", "a|b", "a\tb", "a\nb", "a\rb", "a\r\nb", "a\u2028b", "a\u2029b", "a\x85b", "\n", "\r"),
    *('"', '"a"', 'a"b', "\\", "\\n", "a\\", '\\"', "'", "`", "null", "true", "false", "Null", "TRUE", "~", "yes"),
    *("0", "-0", "42", "0042", "05", "1.10", "1e5", "1E5", "1e+5", "-3.14", ".5", ".622", "1.", "+1", "1_000", "0x1F"),
    *("1e400", "∞", "NaN", "Infinity", "-Infinity", "١", "１", "½", "+4930123456", "2026-03-02", "10:30"),
    *(
        "Größe",
        "zh-Hans",
        "a.b",
        "a.b.c",
        "x-y",
        "2x",
        "_",
        "__proto__",
        "constructor",
        "é",
        "😀",
        "👩‍👩‍👧",
        "\u00a0",
        "\u3000",
    ),
    *("\ufeff", "\ufeffa", "\u200b", "\x00", "\x1b[0m", "\x1f", "\x7f", "\U0010ffff", "12345678901234567", "0.0000000"),
)
ODD_NUMBERS = (
    *(-0.0, 0.1, 0.30000000000000004, 1.0, 1e-6, 9.99e-7, 1e-7, 5e-324, 1.5e15, 1e16, 46308044732821136.0, 1e20),
    *(9.99e20, 1e21, 1e22, 1e23, 1e300, 1.7976931348623157e308, 2.0**53, 2.0**53 + 2, 2.0**60, -(2.0**63)),
    *(2**53, -(2**53), 2**64, 10**21, 10**22 + 1, -(10**40)),
)
texts = st.sampled_from(ODD_TEXTS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
numbers = (
    st.sampled_from(ODD_NUMBERS)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(2.0**53, 1e21)
)
scalars = st.none() | st.booleans() | numbers | texts
keys = st.sampled_from("abc") | texts


@st.composite
def tables(draw: st.DrawFn, cells: st.SearchStrategy[Any], rows: st.SearchStrategy[int]) -> list[dict[str, Any]]:
    """Objects with one set of keys, in an order of its own in each."""
    columns = draw(st.lists(keys, min_size=1, max_size=3, unique=True))
    return [{key: draw(cells) for key in draw(st.permutations(columns))} for _ in range(draw(rows))]


@st.composite
def keyed(draw: st.DrawFn, cells: st.SearchStrategy[Any]) -> dict[str, Any]:
    """An object of objects with one set of keys (TOON specification, section 9.5)."""
    rows = draw(tables(cells, st.integers(2, 3)))
    return dict(zip(draw(st.lists(keys, min_size=3, max_size=3, unique=True)), rows, strict=False))


def _composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    arrays = st.lists(inner, max_size=3) | st.lists(st.lists(scalars, max_size=2), max_size=3)
    objects = st.dictionaries(keys, inner, max_size=3) | keyed(scalars) | keyed(inner)
    return arrays | objects | tables(scalars, st.integers(0, 3)) | tables(inner, st.integers(0, 3))


values = st.recursive(scalars, _composed, max_leaves=20)
objects = st.dictionaries(keys, values, max_size=4)


def is_same(told: Any, value: Any) -> bool:
    """Whether a decoded value is the value: true is not 1, and a float that TOON may round is the nearest float."""
    if isinstance(value, dict) and isinstance(told, dict):
        return told.keys() == value.keys() and all(is_same(told[key], each) for key, each in value.items())
    if isinstance(value, list) and isinstance(told, list):
        return len(told) == len(value) and all(map(is_same, told, value))
    if isinstance(value, bool) or isinstance(told, bool):
        return told is value
    return bool(told == value or (has_exponent(value) and float(told) == value))


def has_exponent(value: Any) -> bool:
    """Whether there is a float beyond 1e21 or below 1e-6, which TOON may write either way (section 2)."""
    if isinstance(value, dict | list):
        return any(map(has_exponent, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and value != 0 and not 1e-6 <= abs(value) < 1e21
