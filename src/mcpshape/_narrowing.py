"""Who is told how much in one call: the setting, met with what tool, principal, scopes and client have."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from mcpshape._caller import Caller
from mcpshape.policy import Grant

_LOG = logging.getLogger("mcpshape")
_SAYS_WHO = ("principal ", "scope ", "client ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """The grants of callers, by what is known of them."""

    principals: Mapping[str, Grant]
    scopes: Mapping[str, Grant]
    clients: Mapping[str, Grant]

    def __bool__(self) -> bool:
        """Whether callers are told apart."""
        return bool(self.principals or self.scopes or self.clients)

    def narrow(self, grant: Grant, cap: Grant | None, caller: Caller | None) -> Grant:
        """The grant of one call. Whoever cannot be told apart where callers are gets the narrowest level."""
        if cap is not None:
            grant = grant.narrowed("tool", cap)
        if not self:
            return grant
        least = grant.policy.widest(grant.policy.levels[0])
        if self.principals or self.scopes:
            grant = self._of_token(grant, caller or Caller(), least)
        client = caller.client if caller else None
        if self.clients and client is None:
            grant = grant.narrowed("client unknown", least)
        elif client is not None and client in self.clients:
            grant = grant.narrowed(f"client {client}", self.clients[client])
        return grant

    def _of_token(self, grant: Grant, caller: Caller, least: Grant) -> Grant:
        """The grant, met with what the access token is granted: by its client id, else by its scopes together."""
        if caller.principal is None:
            return grant.narrowed("principal unknown", least)
        if caller.principal in self.principals:
            return grant.narrowed(f"principal {caller.principal}", self.principals[caller.principal])
        if not self.scopes:
            return grant
        held = sorted(caller.scopes & self.scopes.keys())
        widest = reduce(Grant.joined, (self.scopes[scope] for scope in held)) if held else least
        return grant.narrowed(f"scope {', '.join(held) or 'unknown'}", widest)


def log_narrowed(where: str, grant: Grant | None) -> None:
    """Say in the log which caller was told less than the setting has, and by whom."""
    if grant is None or not _LOG.isEnabledFor(logging.INFO):
        return
    told = [who for who in grant.narrowed_by if who.startswith(_SAYS_WHO)]
    if told:
        _LOG.info("%s: narrowed to the level %s by %s", where, grant.level, " and ".join(told))
