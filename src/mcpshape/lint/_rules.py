"""All rules, in the order in which their findings are told; docs/reference/lint.md says what each is for."""

from mcpshape.lint._answers import (
    find_failing_examples,
    find_long_answers,
    find_missing_examples,
    find_structured_prices,
)
from mcpshape.lint._descriptions import find_foreign_words, find_silent_emptiness, find_withheld_names
from mcpshape.lint._fields import find_always_masked, find_decoration, find_untyped_values
from mcpshape.lint._inspected import Rule, of_tools
from mcpshape.lint._policies import find_unaccepted_handles, find_unused_toggles

RULES = (
    Rule("foreign-word", of_tools(find_foreign_words)),
    Rule("withheld-name", find_withheld_names),
    Rule("no-empty-text", of_tools(find_silent_emptiness)),
    Rule("untyped-value", of_tools(find_untyped_values)),
    Rule("decoration", of_tools(find_decoration), is_told_once=True),
    Rule("always-masked", of_tools(find_always_masked), is_told_once=True),
    Rule("no-example", find_missing_examples),
    Rule("failing-example", of_tools(find_failing_examples)),
    Rule("structured-price", of_tools(find_structured_prices)),
    Rule("too-long-for-host", of_tools(find_long_answers)),
    Rule("unused-toggle", find_unused_toggles),
    Rule("unaccepted-handle", find_unaccepted_handles, is_told_once=True),
    Rule("unshaped-tool", lambda inspected: iter(inspected.unshaped)),
)
