"""How figures are printed: one a line, beside the aim that it has, if it has one."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Sheet:
    """Lines whose names take `width` characters."""

    width: int

    def tell(self, name: str, figures: str, is_met: bool | None = None, aim: str = "") -> None:
        """Print figures, and whether they meet their aim."""
        verdict = "" if is_met is None else f"  (aim: {aim}: {'pass' if is_met else 'FAIL'})"
        print(f"  {name:{self.width}} {figures}{verdict}", flush=True)

    def tell_times(self, name: str, times: Sequence[float], most: float | None = None) -> None:
        """Print how milliseconds are spread; 95 in 100 of them should be no more than `most`."""
        if not times:
            self.tell(name, "none was asked")
            return
        late = sorted(times)[len(times) * 95 // 100]
        spread = f"median {median(times):.1f}, 95 % within {late:.1f}, all within {max(times):.1f} ms"
        is_met = None if most is None else late <= most
        self.tell(name, f"{spread}, {len(times)} asked", is_met, f"95 % within {most or 0:g} ms")
