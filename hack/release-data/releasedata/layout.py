"""Writes JSON so that it is short and its changes are easy to read in a diff.

A value that fits on a line is on one line. Other values have one entry on each line.
"""

import json
from typing import Any

_WIDTH = 120
_INDENT = 1


def dumps(value: Any) -> str:
    """Returns the JSON text of a value, with a line feed at the end."""
    return _text(value, 0, 0) + "\n"


def _text(value: Any, depth: int, taken: int) -> str:
    """Returns the text of a value at a depth. The key before it uses `taken` columns of its first line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value:
        return line
    # One column is left for the comma.
    if depth * _INDENT + taken + len(line) < _WIDTH:
        return line
    inner, outer = "\n" + " " * _INDENT * (depth + 1), "\n" + " " * _INDENT * depth
    if isinstance(value, list):
        return "[" + inner + f",{inner}".join(_text(item, depth + 1, 0) for item in value) + outer + "]"
    items = []
    for key, item in value.items():
        name = json.dumps(key, ensure_ascii=False) + ": "
        items.append(name + _text(item, depth + 1, len(name)))
    return "{" + inner + f",{inner}".join(items) + outer + "}"
