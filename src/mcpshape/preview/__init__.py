"""What leaves, made visible: the real answers of tools to their examples, as a page, in a terminal and for programs."""

from mcpshape.preview._answer import Contrast, Preview, Shown, preview_tool
from mcpshape.preview._choice import IN_FORCE, Choice, choose
from mcpshape.preview._contrast import Change, Line

__all__ = ["IN_FORCE", "Change", "Choice", "Contrast", "Line", "Preview", "Shown", "choose", "preview_tool"]
