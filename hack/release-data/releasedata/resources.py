"""Describes the resources that a config can register at the start of the server, such as models and tool groups."""

import typing
from typing import Any

from pydantic import BaseModel

from . import typetext
from .classes import Catalog
from .package import Package

type Row = dict[str, Any]

# These are the kinds of all releases. Other lists of the top level, such as `apis`, do not contain resources. A section
# that only has the name of a kind, such as the settings in `vector_stores`, is not a list.
_KINDS = {
    "models", "shields", "vector_dbs", "vector_stores", "datasets", "scoring_fns", "benchmarks", "tool_groups",
    "connectors",
}  # fmt: skip

# These are the routing tables whose names differ from the names of their kinds.
_TABLES = {"scoring_fns": "scoring_functions"}


def describe(package: Package, catalog: Catalog, config: type[BaseModel], apis: list[Row]) -> list[Row]:
    """Returns one row per kind of resource, in declared order."""
    out = []
    try:
        registered = package.load("core.datatypes", "RegisteredResources")
    except AttributeError:
        registered = None
    for section, holder in (("registered_resources", registered), ("", config)):
        for kind, field in getattr(holder, "model_fields", {}).items():
            classes = typetext.classes(field.annotation, BaseModel)
            if kind in _KINDS and classes and typing.get_origin(field.annotation) is list:
                out.append(row(kind, section, catalog.name(classes[0]), catalog, bool(field.deprecated), apis))
    return out


def row(kind: str, section: str, name: str, catalog: Catalog, deprecated: bool, apis: list[Row]) -> Row:
    """Returns the row of one kind of resource. `name` is the class of its entries."""
    keys = [key["name"] for key in catalog.rows[name]["keys"]]
    identity = id_key(kind, keys)
    described: Row = {"kind": kind, "section": section, "class": name, "id_key": identity}
    if f"provider_{identity}" in keys:
        described["provider_id_key"] = f"provider_{identity}"
    if "provider_id" in keys:
        described["needs_provider"] = True
    table = _TABLES.get(kind, kind)
    if router := next((api["router"] for api in apis if api["name"] == table and "router" in api), None):
        described["api"] = router
    if deprecated:
        described["dropped"] = True
    return described


def id_key(kind: str, keys: list[str]) -> str:
    """Returns the key with the ID of a resource, such as `model_id` for models."""
    singular = kind.removesuffix("s")
    for candidate in (f"{singular}_id", f"{singular.replace('_', '')}_id"):
        if candidate in keys:
            return candidate
    raise ValueError(f"no ID among the keys of {kind}: {', '.join(keys)}")
