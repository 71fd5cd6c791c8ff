"""The disclosure lock: all that leaves at each level as a text for reviews, and what leaves beyond it."""

from mcpshape.lock._comparison import Widening, compare
from mcpshape.lock._lock import Lock
from mcpshape.lock._reading import read_lock
from mcpshape.lock._tracing import lock_shape

__all__ = ["Lock", "Widening", "compare", "lock_shape", "read_lock"]
