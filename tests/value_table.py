"""Examples for each row of the tables in docs/reference/values.md, with what every format has to say of them."""

import re
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Interface
from math import inf, nan
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal, NamedTuple, NotRequired
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import (
    UUID4,
    AnyUrl,
    AwareDatetime,
    Base64Bytes,
    Base64Str,
    Base64UrlBytes,
    BaseModel,
    ByteSize,
    EmailStr,
    Field,
    GetPydanticSchema,
    HttpUrl,
    Json,
    NaiveDatetime,
    NameEmail,
    PlainSerializer,
    PostgresDsn,
    RootModel,
    Secret,
    SecretBytes,
    SecretStr,
    SerializeAsAny,
    WrapSerializer,
    computed_field,
    create_model,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict

from mcpshape import Clip, Mask, Policy, Since

PLUS_TWO = timezone(timedelta(hours=2))
POLICY = Policy(levels=("strict", "open"))
INTEGER = {"pattern": r"^-?\d+$", "type": ["integer", "string"]}
TEXT = {"type": "string"}
DURATION = {"pattern": r"^-?P(\d+[YMWD])*(T(\d+(\.\d+)?[HMS])+)?$", "type": "string"}
DECIMAL = {"pattern": r"^-?(\d+(\.\d*)?|\.\d+)([Ee][+-]?\d+)?$", "type": "string"}
BASE64 = {"contentEncoding": "base64url", "type": "string"}


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Rank(IntEnum):
    FIRST = 1


class Plan(StrEnum):
    BASIC = "basic"


class Price(Enum):
    LOW = Decimal("1.50")


class Words(RootModel[list[str]]):
    pass


@dataclass(slots=True)
class Point:
    x: int
    y: int = 2


@pydantic_dataclass
class Size:
    width: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def area(self) -> int:
        return self.width**2


class Partial(TypedDict):
    b: NotRequired[str]
    a: int


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    tricks: list[str]


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


def _chained(*_: Any) -> CoreSchema:
    return core_schema.chain_schema([core_schema.str_schema(), core_schema.int_schema()])


def _as_number(*_: Any) -> CoreSchema:
    return core_schema.int_schema(serialization=core_schema.float_schema())


def _mixed(*_: Any) -> CoreSchema:
    items: list[CoreSchema] = [core_schema.int_schema(), core_schema.str_schema()]
    return core_schema.tuple_schema(items, variadic_item_index=1)


@dataclass(frozen=True)
class Example:
    """A value of a declared type, what is told of it, and its Markdown where that is more than a line of a list."""

    annotation: Any
    value: Any
    told: Any
    markdown: str | None = None

    def dto(self) -> BaseModel:
        return create_model("Dto", value=(self.annotation, ...))(value=self.value)


def same(annotation: Any, *values: Any) -> tuple[Example, ...]:
    """Values that are told as they are."""
    return tuple(Example(annotation, value, value) for value in values)


def entries(*lines: str) -> str:
    return "- value:\n" + "\n".join(f"  - {line}" for line in lines)


@dataclass(frozen=True)
class Row:
    """A row of the table: the schema of its first example, where the page states one, and its examples."""

    schema: Mapping[str, Any] | None
    examples: tuple[Example, ...]


ROWS: dict[str, Row] = {
    "`str`": Row(
        TEXT,
        (
            *same(str, "Größe 👩‍👩‍👧", "", "null", "0042", "*a* _b_ | `c` <d> &amp; [e](f)", "-", "1. a", "# a"),
            Example(str, "a\ud800b", "a\ufffdb"),
            Example(int | str, "x\udc00", "x\ufffd"),
            Example(Annotated[str, PlainSerializer(lambda text: f"{text}\ud800", return_type=str)], "a", "a\ufffd"),
            Example(str, "a\nb\r\nc", "a\nb\nc", "- value: a<br>b<br>c"),
        ),
    ),
    "`str` or `None`": Row(
        {"anyOf": [TEXT, {"type": "null"}]},
        (Example(str | None, "", None), *same(str | None, None, "x"), Example(int | str | None, "", None)),
    ),
    "`bool`": Row({"type": "boolean"}, (*same(bool, True, False), *same(bool | str, True, "true"))),
    "`int`": Row(
        INTEGER,
        (
            *same(int, 0, -7, 2**53 - 1, -(2**53) + 1),
            Example(int, 2**53, "9007199254740992"),
            Example(int, -(2**70), "-1180591620717411303424"),
            Example(int, 10**5000, "1" + "0" * 5000),
            Example(int | str | None, 2**60, "1152921504606846976"),
            *same(Annotated[int, Field(ge=0, le=100)], 7),
            Example(Annotated[int, GetPydanticSchema(_chained)], "7", 7),
            Example(Annotated[int, GetPydanticSchema(_as_number)], 7, 7),
            Example(Annotated[int, WrapSerializer(lambda value, write: write(value + 1), return_type=int)], 3, 4),
            Example(Annotated[int, PlainSerializer(lambda value: f"{value} kg", return_type=str)], 3, "3 kg"),
        ),
    ),
    "`ByteSize`": Row(
        {"minimum": 0, **INTEGER}, (Example(ByteSize, "1 GiB", 2**30), Example(ByteSize, 2**60, str(2**60)))
    ),
    "`float`": Row(
        {"type": "number"},
        (
            *same(float, 1.5, -0.25, 1e-6, 0.30000000000000004, 1e-7, 5e-324, 1e21, 1e300),
            Example(float, 1.0, 1.0, "- value: 1.0"),
            Example(float, 1e20, 10**20),
            Example(float, 46308044732821136.0, 46308044732821136),
            *same(float | str, 1.5),
            Example(int | float, 2.5, 2.5),
        ),
    ),
    "NaN and infinity": Row(
        {"anyOf": [{"type": "number"}, {"type": "null"}]},
        (
            *(Example(float | None, value, None) for value in (nan, inf, -inf)),
            Example(list[float | None], [nan, 1.5], [None, 1.5], entries("*none*", "1.5")),
            Example(dict[str, float | None], {"k\ud800": nan}, {"k\ufffd": None}, "## value\n\n- k\ufffd: *none*"),
            Example(Annotated[Decimal | None, Field(allow_inf_nan=True)], Decimal("NaN"), None),
        ),
    ),
    "`Decimal`": Row(
        DECIMAL,
        tuple(Example(Decimal, Decimal(text), text) for text in ("1.10", "1E+2", "-0", "1E-10", "1E+30", "-5")),
    ),
    "`AwareDatetime`": Row(
        {"format": "date-time", "type": "string"},
        (
            Example(AwareDatetime, datetime(2026, 3, 2, 9, tzinfo=PLUS_TWO), "2026-03-02T09:00:00+02:00"),
            Example(AwareDatetime, datetime(2026, 3, 2, 9, 0, 0, 5, tzinfo=UTC), "2026-03-02T09:00:00.000005Z"),
            Example(
                AwareDatetime, datetime(2026, 7, 2, 9, tzinfo=ZoneInfo("Europe/Berlin")), "2026-07-02T09:00:00+02:00"
            ),
            Example(
                AwareDatetime,
                datetime(2026, 3, 2, 9, tzinfo=timezone(-timedelta(hours=3, minutes=30))),
                "2026-03-02T09:00:00-03:30",
            ),
            Example(
                AwareDatetime,
                datetime(1930, 1, 1, tzinfo=timezone(timedelta(minutes=19, seconds=32))),
                "1930-01-01T00:00:00+00:19",
            ),
        ),
    ),
    "`datetime`": Row(
        TEXT,
        (
            Example(datetime, datetime(2026, 3, 2, 9), "2026-03-02T09:00:00"),
            Example(datetime, datetime(2026, 3, 2, 9, tzinfo=UTC), "2026-03-02T09:00:00Z"),
            Example(datetime, datetime(1, 1, 1), "0001-01-01T00:00:00"),
            Example(NaiveDatetime, datetime(2026, 3, 2, 9, 0, 0, 1), "2026-03-02T09:00:00.000001"),
            Example(datetime | date, date(2026, 3, 2), "2026-03-02"),
            Example(date | datetime, datetime(2026, 3, 2, 9), "2026-03-02T09:00:00"),
            Example(date | datetime, datetime(2026, 3, 2, tzinfo=UTC), "2026-03-02T00:00:00Z"),
        ),
    ),
    "`date`": Row(
        {"format": "date", "type": "string"},
        (Example(date, date(2026, 3, 2), "2026-03-02"), Example(date | None, date(1, 1, 1), "0001-01-01")),
    ),
    "`time`": Row(
        TEXT,
        (
            Example(time, time(9, 30), "09:30:00"),
            Example(time, time(9, 30, tzinfo=PLUS_TWO), "09:30:00+02:00"),
            Example(time, time(9, 30, 0, 5, tzinfo=UTC), "09:30:00.000005Z"),
            Example(time, time(9, 30, tzinfo=ZoneInfo("Europe/Berlin")), "09:30:00"),
        ),
    ),
    "`timedelta`": Row(
        DURATION,
        tuple(
            Example(timedelta, value, text)
            for value, text in (
                (timedelta(days=1, seconds=1.5), "P1DT1.5S"),
                (timedelta(seconds=-1), "-PT1S"),
                (timedelta(microseconds=-1), "-PT0.000001S"),
                (timedelta(days=-1, microseconds=1), "-PT23H59M59.999999S"),
                (timedelta(0), "PT0S"),
                (timedelta(days=400, hours=2), "P1Y35DT2H"),
                (timedelta.min, "-P2739726Y9D"),
            )
        ),
    ),
    "`bytes`, `re.Pattern[bytes]`": Row(
        BASE64,
        (
            Example(bytes, b"\x89PNG\xff", "iVBOR_8="),
            Example(bytes, b"", ""),
            Example(bytes, b"plain", "cGxhaW4="),
            Example(bytes | None, None, None),
            Example(bytes | str, b"\xff", "_w=="),
            Example(list[bytes], [b"\xff"], ["_w=="], entries(r"\_w==")),
            Example(re.Pattern[bytes], re.compile(b"a+"), "YSs="),
        ),
    ),
    "`Base64Bytes` and the like": Row(
        TEXT,
        (
            Example(Base64Bytes, b"iVBO/w==", "iVBO/w=="),
            Example(Base64UrlBytes, b"iVBO_w==", "iVBO_w=="),
            Example(Base64Str, "aGk=", "aGk="),
        ),
    ),
    "`Enum`, `Literal`": Row(
        {"enum": ["red", "blue"], "title": "Colour", "type": "string"},
        (
            Example(Colour, Colour.RED, "red"),
            Example(Rank, Rank.FIRST, 1),
            Example(Plan, Plan.BASIC, "basic"),
            Example(Price, Price.LOW, "1.50"),
            Example(Literal[Colour.BLUE], Colour.BLUE, "blue"),
            *same(Literal["a", 1], 1, "a"),
            *same(Literal[True, "a"] | None, True, None),
            *same(None, None),
        ),
    ),
    "`UUID`": Row(
        {"format": "uuid", "type": "string"},
        (
            Example(UUID, UUID(int=1), "00000000-0000-0000-0000-000000000001"),
            Example(UUID4, UUID("d488a351-694b-48f3-a6ef-80c883b83c30"), "d488a351-694b-48f3-a6ef-80c883b83c30"),
        ),
    ),
    "URLs": Row(
        {"format": "uri", "minLength": 1, "type": "string"},
        (
            Example(AnyUrl, "https://example.com/a?b=1#c_d", "https://example.com/a?b=1#c_d"),
            Example(HttpUrl, "https://exämple.com", "https://xn--exmple-cua.com/"),
            Example(PostgresDsn, "postgres://h/d", "postgres://h/d"),
        ),
    ),
    "paths, IP addresses and networks, `Fraction`, `re.Pattern`, `ZoneInfo`, `EmailStr`, `NameEmail`": Row(
        TEXT,
        (
            Example(PurePosixPath, "/a/b", "/a/b"),
            Example(Path, "/a b", "/a b"),
            Example(PureWindowsPath, "C:\\a b", "C:\\a b"),
            Example(IPv4Address, "127.0.0.1", "127.0.0.1"),
            Example(IPv6Address, "::1", "::1"),
            Example(IPv4Network, "10.0.0.0/8", "10.0.0.0/8"),
            Example(IPv6Interface, "::1/64", "::1/64"),
            Example(Fraction, "1/3", "1/3"),
            Example(Fraction, Fraction(4), "4"),
            Example(re.Pattern[str], re.compile(r"^a+\d*$"), r"^a+\d*$"),
            Example(ZoneInfo, ZoneInfo("Europe/Berlin"), "Europe/Berlin"),
            Example(EmailStr, "a_b@example.com", "a_b@example.com"),
            Example(NameEmail, "Ada <ada@example.com>", "Ada <ada@example.com>"),
        ),
    ),
    "`SecretStr`, `SecretBytes`, `Secret[...]`": Row(
        {"const": "**********", "type": "string"},
        (
            Example(SecretStr, "hush", "**********"),
            Example(SecretStr, "", "**********"),
            Example(SecretBytes, b"hush", "**********"),
            Example(Secret[int], 5, "**********"),
            Example(Secret[date] | None, None, None),
        ),
    ),
    "lists, tuples, sets, sequences": Row(
        {"items": INTEGER, "type": "array"},
        (
            Example(list[int], [1, 2], [1, 2], entries("1", "2")),
            Example(list[int], [], [], "- value: *empty list*"),
            Example(list[int] | None, None, None),
            Example(set[int], {3}, [3], entries("3")),
            Example(frozenset[str], {"a"}, ["a"], entries("a")),
            Example(tuple[int, ...], (1, 2), [1, 2], entries("1", "2")),
            Example(tuple[int, str], (1, "a"), [1, "a"], entries("1", "a")),
            Example(tuple[()], (), [], "- value: *empty list*"),
            Example(Sequence[int], (1, 2), [1, 2], entries("1", "2")),
            Example(deque[int], deque([1]), [1], entries("1")),
            Example(Json[list[int]], "[1]", [1], entries("1")),
            Example(list[list[int]], [[1], []], [[1], []], "- value:\n  -\n    - 1\n  - *empty list*"),
            Example(Words, ["a"], ["a"], entries("a")),
        ),
    ),
    "`dict[str, …]`, keys of other plain types": Row(
        {"additionalProperties": INTEGER, "type": "object"},
        (
            Example(
                dict[str, int], {"zh-Hans": 1, "a:b": 2}, {"zh-Hans": 1, "a:b": 2}, "## value\n\n- zh-Hans: 1\n- a:b: 2"
            ),
            Example(dict[str, int], {}, {}, "- value: *nothing shown*"),
            Example(Mapping[str, int], {"": 1}, {"": 1}, '## value\n\n- "": 1'),
            Example(dict[int, int], {2**60: 1}, {"1152921504606846976": 1}, "## value\n\n- 1152921504606846976: 1"),
            Example(dict[date, int], {date(2026, 3, 2): 1}, {"2026-03-02": 1}, "## value\n\n- 2026-03-02: 1"),
            Example(dict[Colour, int], {Colour.RED: 1}, {"red": 1}, "## value\n\n- red: 1"),
        ),
    ),
    "models, dataclasses, TypedDicts": Row(
        {"$ref": "#/$defs/Point"},
        (
            Example(Point, Point(1), {"x": 1, "y": 2}, "## value\n\n- x: 1\n- y: 2"),
            Example(Size, {"width": 3}, {"width": 3, "area": 9}, "## value\n\n- width: 3\n- area: 9"),
            Example(Partial, {"a": 1}, {"b": None, "a": 1}, "## value\n\n- b: *none*\n- a: 1"),
            Example(Point | Size | None, Size(2), {"width": 2, "area": 4}, "## value\n\n- width: 2\n- area: 4"),
            Example(
                SerializeAsAny[Cat], Cat(lives=9), {"kind": "cat", "lives": 9}, "## value\n\n- kind: cat\n- lives: 9"
            ),
            Example(
                list[Pet],
                [{"kind": "cat", "lives": 9}, {"kind": "dog", "tricks": []}],
                [{"kind": "cat", "lives": 9}, {"kind": "dog", "tricks": []}],
                "## value\n\n### value 1 of 2\n\n- kind: cat\n- lives: 9\n\n"
                "### value 2 of 2\n\n- kind: dog\n- tricks: *empty list*",
            ),
            Example(
                Annotated[Cat, PlainSerializer(lambda cat: [cat.lives], return_type=list[int])],
                Cat(lives=9),
                [9],
                entries("9"),
            ),
        ),
    ),
    "a masked field": Row(
        {"anyOf": [{"const": "[Event]", "type": "string"}, TEXT]},
        (
            Example(Annotated[str, Since("open", below=Mask("[Event]"))], "hush", "[Event]"),
            Example(Annotated[int, Since("open", below=Mask(0))], 5, 0),
            Example(Annotated[date, Since("open", below=Mask(date(2000, 1, 1)))], date(2026, 3, 2), "2000-01-01"),
        ),
    ),
    "a clipped field": Row(
        TEXT,
        (
            Example(Annotated[str, Clip(4)], "👩‍👩‍👧abcd", "👩‍👩‍👧ab…"),
            Example(Annotated[str, Clip(4)], "👩‍👩‍👧abc", "👩‍👩‍👧abc"),
            Example(Annotated[str | None, Clip(4)], None, None),
        ),
    ),
}

# A root that is no object, with its value.
WRAPPED: tuple[tuple[Any, Any, Any], ...] = (
    (list[int], [1], [1]),
    (list[Cat], [], []),
    (Cat | None, None, None),
    (int, 2**53, "9007199254740992"),
    (date, date(2026, 3, 2), "2026-03-02"),
    (Words, Words(["a"]), ["a"]),
)


class Pair(NamedTuple):
    a: int


class Access(Flag):
    READ = 1
    WRITE = 2


def enum_of(value: Any) -> Any:
    return Enum("Odd", {"MEMBER": value})


REFUSED: dict[str, tuple[Any, ...]] = {
    "`Any`, `object`, `list`, `dict`, `tuple` or `Json` without what is inside": (
        *(Any, object, list, dict, tuple, set, Json, list[Any], dict[str, object], Enum, type),
    ),
    "`complex`, `NamedTuple`, `OrderedDict`, `Counter`, `defaultdict`, callables, classes": (
        *(complex, Pair, OrderedDict[str, int], Counter[str], defaultdict[str, int], Callable[[], int], type[int]),
    ),
    "iterators and generators": (Iterable[int], Generator[int, None, None]),
    "a tuple of a fixed and a variable part": (Annotated[tuple[int, ...], GetPydanticSchema(_mixed)],),
    "a dict with other keys, or with `None` for a key": (
        *(dict[bytes, int], dict[float, int], dict[bool, int], dict[Path, int], dict[SecretStr, int]),
        *(dict[None, int], dict[str | int, int], dict[str | None, int], dict[tuple[int, int], int]),
        *(dict[enum_of(None), int], dict[Literal[enum_of(None).MEMBER], int]),  # type: ignore[misc]
    ),
    "a `Flag`": (Access, list[Access], Access | None),
    "an `Enum`, a `Literal` or a mask with bytes, NaN, a number beyond 2⁵³ or invisible characters": (
        *map(enum_of, (b"x", nan, inf, 2**53, 1e17, "a\u200bb", "a\x00", (1, 2**60), object())),
        *(Literal[2**53], Literal[b"x"], Literal["a\u202eb"], dict[Literal["a\u200b"], int]),
        *(Annotated[int, Since("open", below=Mask(value))] for value in (2**53, -(2**60))),
        *(Annotated[float, Since("open", below=Mask(value))] for value in (nan, inf)),
        *(Annotated[str, Since("open", below=Mask(value))] for value in ("a\ud800", "a\u200bb")),
        Annotated[bytes, Since("open", below=Mask(b"x"))],
    ),
}
