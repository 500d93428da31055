"""Working values for required keys that a user cannot be expected to know.

A reference to a store gets a place of its own, told apart by the provider's id; also one that may be null, because
providers open the store without looking. A path gets the value that the server writes into its own example configs. A
required key that may be null gets null, unless it is the endpoint. Anything else (a bucket's name, a project) is for
the user to say.

The values may hold placeholders that the operator fills: {id}, the provider's id; {table}, the id as a table name;
{distribution}, the distribution's name.
"""

import re
from collections.abc import Mapping
from typing import Any

from . import endpoints

type Row = dict[str, Any]

# Handed to the server's examples in place of a directory, and recognised in what they return.
DIRECTORY = "/example-directory"

_BARE_REFERENCE = re.compile(r"\$\{env\.[A-Z0-9_]+\}")


def required_defaults(
    api: str, keys: list[Row], classes: Mapping[str, Row], example: Mapping[str, Any], data_dir: str
) -> list[Row]:
    """The default of each required key that has one, in declared order, as rows of key and value."""
    out = []
    endpoint = endpoints.endpoint_key(keys)
    for key in keys:
        if key["name"] == endpoint or not (key.get("required") or key["name"] in _ONLY_STORE):
            continue
        found, value = _value(api, key, classes, example.get(key["name"]), data_dir)
        if found:
            out.append({"key": key["name"], "value": value})
    return out


def _value(api: str, key: Row, classes: Mapping[str, Row], example: Any, data_dir: str) -> tuple[bool, Any]:
    kind = key["type"].removesuffix(" | null")
    if kind in classes:
        return _mapping(api, key["name"], classes[kind]["keys"], classes)
    if kind in ("str", "Path") and isinstance(example, str) and DIRECTORY in example:
        if not _BARE_REFERENCE.search(example):
            return True, example.replace(DIRECTORY, f"{data_dir}/distributions/{{distribution}}")
    if key["type"].endswith("| null"):
        return True, None  # the key has to be there, and says nothing
    return False, None


def _mapping(api: str, name: str, keys: list[Row], classes: Mapping[str, Row]) -> tuple[bool, Any]:
    if reference := _reference(api, name, {key["name"] for key in keys}):
        return True, reference
    value = {}
    for key in keys:
        if not key.get("required"):
            continue
        kind = key["type"].removesuffix(" | null")
        if kind not in classes:
            return False, None
        found, value[key["name"]] = _mapping(api, key["name"], classes[kind]["keys"], classes)
        if not found:
            return False, None
    return bool(value), value


# Keys that name the one store a provider has; others are part of the place, so that two stores of one provider differ.
_ONLY_STORE = {"persistence", "kvstore", "sqlstore", "metadata_store"}


def _reference(api: str, name: str, keys: set[str]) -> Row | None:
    """A reference to a store, or None when the keys are not those of a reference."""
    only = name in _ONLY_STORE
    if {"namespace", "backend"} <= keys:
        return {"namespace": f"{api}::{{id}}" if only else f"{api}::{{id}}::{name}", "backend": "kv_default"}
    if {"table_name", "backend"} <= keys:
        suffix = "_metadata" if name == "metadata_store" else ""
        return {"table_name": f"{api}_{{table}}{suffix}", "backend": "sql_default"}
    return None
