"""Finds working values for required keys whose values a user cannot know.

A reference to a store gets a separate namespace or table, whose name contains the provider's ID. This also applies to
references that can be null, because providers open the store without a check. In release 0.2 and older, the value of
the key is the store, which gets a separate file. A path gets the value that the server writes into its example configs.
A required key that can be null gets null, unless it is the endpoint. All other keys, such as the name of a bucket or of
a project, have no default, and the user sets them.

The values can contain placeholders that the operator replaces: {id} is the provider's ID, {table} is the ID as a table
name, and {distribution} is the distribution's name.
"""

import re
from collections.abc import Mapping
from typing import Any

from . import endpoints

type Row = dict[str, Any]

# The server's examples receive this directory as an argument. The functions recognize the directory in the results.
DIRECTORY = "/example-directory"

_BARE_REFERENCE = re.compile(r"\$\{env\.[A-Z0-9_]+\}")


def required_defaults(
    api: str, keys: list[Row], classes: Mapping[str, Row], example: Mapping[str, Any], data_dir: str
) -> list[Row]:
    """Returns the defaults of the required keys that have one, in declared order, as rows of key and value."""
    out = []
    endpoint = endpoints.endpoint_key(keys)
    for key in keys:
        opened = key["name"] in _OPENED or _inline(api, key, classes, data_dir)
        if key["name"] == endpoint or not (key.get("required") or opened):
            continue
        found, value = _value(api, key, classes, example.get(key["name"]), data_dir)
        if found:
            out.append({"key": key["name"], "value": value})
    return out


def _value(api: str, key: Row, classes: Mapping[str, Row], example: Any, data_dir: str) -> tuple[bool, Any]:
    kind = key["type"].removesuffix(" | null")
    if store := _inline(api, key, classes, data_dir):
        return True, store
    if kind in classes:
        return _mapping(api, key["name"], classes[kind]["keys"], classes)
    if kind in ("str", "Path") and isinstance(example, str) and DIRECTORY in example:
        if not _BARE_REFERENCE.search(example):
            # Some examples put the data directory before an absolute directory.
            place = example.replace(f"{data_dir}/{DIRECTORY}", DIRECTORY)
            return True, place.replace(DIRECTORY, f"{data_dir}/distributions/{{distribution}}")
    if key["type"].endswith("| null"):
        return True, None  # the key is required, and its value can be null
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


# These keys refer to the only store of a provider. For any other key, the name of the key is part of the namespace, the
# table name or the file name, so that two stores of one provider differ.
_ONLY_STORE = {"persistence", "kvstore", "sqlstore", "metadata_store"}

# These keys refer to stores that providers open without a check, even if the reference can be null.
_OPENED = {"persistence", "kvstore"}


def _inline(api: str, key: Row, classes: Mapping[str, Row], data_dir: str) -> Row | None:
    """Returns a separate sqlite store for a key whose value is a whole backend, or None for any other key."""
    for choice in key["type"].split(" | "):
        keys = {row["name"]: row for row in classes.get(choice, {"keys": []})["keys"]}
        if keys.get("type", {}).get("default") == "sqlite" and "db_path" in keys:
            file = f"{api}_{{table}}" if key["name"] in _ONLY_STORE else f"{api}_{{table}}_{key['name']}"
            directory = f"${{env.SQLITE_STORE_DIR:={data_dir}/distributions/{{distribution}}}}"
            return {"type": "sqlite", "db_path": f"{directory}/{file}.db"}
    return None


def _reference(api: str, name: str, keys: set[str]) -> Row | None:
    """Returns a reference to a store, or None if the keys are not those of a reference."""
    only = name in _ONLY_STORE
    if {"namespace", "backend"} <= keys:
        return {"namespace": f"{api}::{{id}}" if only else f"{api}::{{id}}::{name}", "backend": "kv_default"}
    if {"table_name", "backend"} <= keys:
        suffix = "_metadata" if name == "metadata_store" else ""
        return {"table_name": f"{api}_{{table}}{suffix}", "backend": "sql_default"}
    return None
