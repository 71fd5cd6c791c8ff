"""Who calls, as each class finds it out, and what it changes: nothing but less."""

from typing import Any

import anyio
import httpx2
import pytest

from conftest import PLACES, Servers
from contract.asking import NEWEST, Place, asking
from contract.conversation import DAY
from contract.serving import KINDS, build

REMOTE = [place for place in PLACES if place.transport == "http"]
CALLERS = [place for place in REMOTE if place.client != "typescript"]
