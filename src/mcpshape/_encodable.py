"""Whether an encoder can write what a plan lets out."""

from mcpshape._guards import Plan
from mcpshape._layout import every_layout
from mcpshape.encoders import Checking, Encoder
from mcpshape.errors import DefinitionError


def require_encodable(plan: Plan, encoder: Encoder) -> Plan:
    """The plan, once the encoder has nothing against it; one without `find_problems` never has.

    Raises:
        DefinitionError: It has.
    """
    if isinstance(encoder, Checking) and (problems := list(encoder.find_problems(every_layout(plan)))):
        raise DefinitionError(plan.where, dict.fromkeys(problems))
    return plan
