"""Prints the YAML values that the server's parser accepts for each type, as cases for a test of package schema.

    python -m releasedata.verdicts > internal/core/stackconfig/schema/testdata/verdicts.json

The values are read with PyYAML and validated with Pydantic in lax mode, as the server does. The results are those of
the installed versions. If a new version has other results, the Go package must be changed too.
"""

import enum
import json
import pathlib
import sys
from typing import Any, Literal

import yaml
from pydantic import HttpUrl, SecretStr, TypeAdapter, ValidationError


class _Kind(enum.Enum):
    LLM = "llm"
    EMBEDDING = "embedding"


TYPES: dict[str, Any] = {
    "Any": Any,
    "null": None,
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    "HttpUrl": HttpUrl,
    "SecretStr": SecretStr,
    "Path": pathlib.Path,
    "literal[COSINE, L2]": Literal["COSINE", "L2"],
    "enum[llm, embedding]": _Kind,
    "int | null": int | None,
    "int | str": int | str,
    "bool | str | null": bool | str | None,
    "HttpUrl | null": HttpUrl | None,
    "list[str]": list[str],
    "list[str] | null": list[str] | None,
    "list[int]": list[int],
    "dict[str, int]": dict[str, int],
    "dict[str, Any]": dict[str, Any],
}

VALUES = """
null|~|""|true|false|yes|No|on|OFF|"true"|"yes"|"t"|"Off"|"maybe"|y|n
0|1|2|-1|+1|007|0o17|08|0x1F|0b101|1_000|12:30|"1"|"0"|" 12 "|"1_000"|"0123"|"12.0"|"12.5"|"0x1F"|"1e5"|"--1"
1.0|0.0|1.5|-1.5|1e5|1.0e+5|1.0e5|.5|5.|.inf|-.inf|.nan|"1.5"|"nan"|"inf"|"-Infinity"|"1e"|"."
hello|COSINE|cosine|L2|llm|"llm"|LLM|2024-01-31|"2024-01-31"|2024-01-31 10:20:30|1.2.3|=|"="
http://vllm:8000|https://api.example.com/v1|HTTP://HOST|vllm:8000|ftp://host/x|http://|http:host|"http:///host"
http://host:99999|http://host:0|http://:80|http://user@host|http://[::1]:80/x|https://host?q|https://host#f|//host|/etc/ssl/ca.pem
[]|[1]|[a, b]|[1, a]|[null]|["1"]|[true]|[[1]]
{}|{a: 1}|{a: x}|{a: "1"}|{1: 1}|{a: null}|{yes: 1}|{a: true}
"""


def values() -> list[str]:
    """Returns the YAML texts to try."""
    return [text for line in VALUES.strip().splitlines() for text in line.split("|")]


def verdict(kind: Any, text: str) -> bool | None:
    """Returns whether the server accepts a value, or None if it cannot read the value."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return False
    return True


def main() -> None:
    """Prints one row for each value: the text, and the types that accept it."""
    rows = []
    for text in values():
        verdicts = {name: verdict(kind, text) for name, kind in TYPES.items()}
        if None not in verdicts.values():
            rows.append({"yaml": text, "accepted_by": [name for name, accepted in verdicts.items() if accepted]})
    lines = ",\n  ".join(json.dumps(row) for row in rows)
    sys.stdout.write(f'{{\n "types": {json.dumps(list(TYPES))},\n "values": [\n  {lines}\n ]\n}}\n')


if __name__ == "__main__":
    main()
