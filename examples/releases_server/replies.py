"""What comes back of a request: what it says, how long to wait, and what to tell where it is a refusal."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from mcpshape import UserError

_CODE = re.compile(r"[A-Z][A-Z0-9_.]{0,80}")
_REFUSALS = {
    400: ("does not understand the question", "Report this with the code, if there is one."),
    401: ("does not accept the key", "Check key_id, issuer_id and key_file, and the clock of this machine."),
    403: ("does not let this key read that", "Check the role of the key, and whether agreements wait to be accepted."),
    404: ("does not know the address", "Leave out api, or correct it."),
}


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back of one try."""

    status: int
    retry_after: str | None
    raw: bytes = field(repr=False)


def parsed(raw: bytes) -> Mapping[str, Any]:
    """What a successful answer says.

    Raises:
        UserError: It says nothing that can be used.
    """
    try:
        found = json.loads(raw, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise unusable("An answer of App Store Connect is no JSON.") from error
    if not isinstance(found, dict) or "data" not in found:
        raise unusable("An answer of App Store Connect has no data.")
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object that has each key once: the answer is stored as it came, and what a second key hides with it."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("key")
    return found


def listed(data: Mapping[str, Any]) -> list[Any]:
    """The resources of a page.

    Raises:
        UserError: It is no page.
    """
    found = data["data"]
    if not isinstance(found, list):
        raise unusable("An answer of App Store Connect is no list.")
    return found


def total(data: Mapping[str, Any]) -> int:
    """How many resources all pages have together; 0 where that is not said."""
    meta = data.get("meta")
    paging = meta.get("paging") if isinstance(meta, dict) else None
    found = paging.get("total") if isinstance(paging, dict) else None
    return found if isinstance(found, int) else 0


def seconds(retry_after: str | None, now: float) -> float | None:
    """How long to wait, from seconds or a date."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        then = parsedate_to_datetime(text)
    except ValueError:
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, then.timestamp() - now)


def unusable(text: str) -> UserError:
    """An error for an answer that is not what the API documents."""
    return UserError(text, hint="Nothing was changed. Pull again later.", code="bad_answer")


def exhausted(reply: Reply | None, retry_after: float | None = None) -> UserError:
    """An error for the last of all tries."""
    if reply is None:
        return UserError(
            "App Store Connect cannot be reached.", hint="Check the network, then pull again.", code="unreachable"
        )
    if reply.status == httpx2.codes.TOO_MANY_REQUESTS:
        return UserError(
            "App Store Connect takes no more requests with this key for now.",
            hint="Pull again later; the limit is counted over an hour.",
            code="rate_limited",
            retry_after=retry_after,
        )
    return refused(reply.status, reply.raw)


def refused(status: int, raw: bytes) -> UserError:
    """An error for a refusal. Of the API's own words only its codes are told, which stand in its documentation."""
    said, hint = _REFUSALS.get(status, ("has trouble", "Pull again later."))
    told = f"{status}{''.join(f', {code}' for code in _codes(raw))}"
    return UserError(f"App Store Connect {said} ({told}).", hint=hint, code=f"http_{status}")


def _codes(raw: bytes) -> list[str]:
    try:
        errors = json.loads(raw)["errors"]
        codes = [each["code"] for each in errors]
    except (ValueError, LookupError, TypeError, RecursionError):
        return []
    return [each for each in dict.fromkeys(codes) if isinstance(each, str) and _CODE.fullmatch(each)][:3]
