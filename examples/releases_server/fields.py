"""The fields of a store page: how deliver names their files, where the API has them, how long they may be."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from mcpshape import UserError

Owner = Literal["version", "info", "version_text", "info_text"]
"""What holds a field: a version, the information of an app, or the texts of either in one locale."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field. `name` is that of its file without `.txt`, `attribute` the one in the API.

    `limit` is the most characters, where Apple documents one. deliver reads no file for what has none.
    """

    name: str
    owner: Owner
    attribute: str
    limit: int | None = None
    has_file: bool = True

    @property
    def category(self) -> str | None:
        """The field whose draft deliver needs to upload this one: it looks at subcategories of a category only."""
        return f"{self.name.partition('_')[0]}_category" if self.name.endswith("_sub_category") else None

    @property
    def is_localized(self) -> bool:
        """Whether there is one for each locale."""
        return self.owner in {"version_text", "info_text"}


FIELDS = (
    Field("name", "info_text", "name", 30),
    Field("subtitle", "info_text", "subtitle", 30),
    Field("privacy_url", "info_text", "privacyPolicyUrl"),
    Field("apple_tv_privacy_policy", "info_text", "privacyPolicyText"),
    Field("privacy_choices_url", "info_text", "privacyChoicesUrl", has_file=False),
    Field("description", "version_text", "description", 4000),
    Field("keywords", "version_text", "keywords", 100),
    Field("release_notes", "version_text", "whatsNew", 4000),
    Field("promotional_text", "version_text", "promotionalText", 170),
    Field("support_url", "version_text", "supportUrl"),
    Field("marketing_url", "version_text", "marketingUrl"),
    Field("copyright", "version", "copyright"),
    Field("primary_category", "info", "primaryCategory"),
    Field("primary_first_sub_category", "info", "primarySubcategoryOne"),
    Field("primary_second_sub_category", "info", "primarySubcategoryTwo"),
    Field("secondary_category", "info", "secondaryCategory"),
    Field("secondary_first_sub_category", "info", "secondarySubcategoryOne"),
    Field("secondary_second_sub_category", "info", "secondarySubcategoryTwo"),
)
"""All fields, in the order in which they are told."""

BY_NAME = {field.name: field for field in FIELDS}
_SPELLED = {
    re.sub(r"[^a-z0-9]", "", spelling.lower()): field for field in FIELDS for spelling in (field.name, field.attribute)
}


def find_field(name: str) -> Field:
    """The field with a name, spelled as its file or as in the API.

    Raises:
        UserError: There is none.
    """
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    if found := _SPELLED.get(plain):
        return found
    raise UserError("There is no such field.", hint=f"Ask for one of {', '.join(BY_NAME)}.", code="unknown_field")


def suggest_file(name: str) -> str | None:
    """The file that somebody meant who named one that deliver does not read."""
    known = [f"{field.name}.txt" for field in FIELDS if field.has_file and field.is_localized]
    plain = name.lower().replace("-", "_").replace(" ", "_")
    near = get_close_matches(plain, known, n=1, cutoff=0.75)
    if near:
        return near[0]
    spelled = _SPELLED.get(re.sub(r"[^a-z0-9]", "", plain.removesuffix(".txt")))
    return f"{spelled.name}.txt" if spelled and spelled.has_file else None
