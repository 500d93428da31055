"""The storage section: kinds of backend and the stores of the server."""

from typing import Any

from pydantic import BaseModel

from . import secrets, typetext
from .classes import Catalogue, plain
from .package import Package

type Row = dict[str, Any]

_MODULE = "core.storage.datatypes"


def describe(package: Package, catalogue: Catalogue) -> Row:
    """Backends by type and stores in declared order."""
    return {"backends": _backends(package, catalogue), "stores": _stores(package, catalogue)}


def _backends(package: Package, catalogue: Catalogue) -> Row:
    out = {}
    for cls in typetext.classes(package.load(_MODULE, "StorageBackendConfig"), BaseModel):
        kind = plain(cls.model_fields["type"].default)  # type: ignore[attr-defined]
        name = catalogue.name(cls)
        row: Row = {"class": name, "family": kind.partition("_")[0]}
        row |= _connection(catalogue.rows[name]["keys"])
        out[kind] = row
    return dict(sorted(out.items()))


def _connection(keys: list[Row]) -> Row:
    names = {key["name"] for key in keys}
    row: Row = {}
    if "password" in names:
        row["credential_key"] = "password"
    if "connection_string" in names and secrets.is_secret("connection_string", "str"):
        row["connection_string_key"] = "connection_string"
    return row


def _stores(package: Package, catalogue: Catalogue) -> list[Row]:
    stores = catalogue.rows[catalogue.name(package.load(_MODULE, "ServerStoresConfig"))]
    out = []
    for key in stores["keys"]:
        name = key["type"].removesuffix(" | null")
        keys = {reference["name"] for reference in catalogue.rows[name]["keys"]}
        row: Row = {"name": key["name"], "class": name, "family": "kv" if "namespace" in keys else "sql"}
        if key.get("default") is not None:
            row["default"] = key["default"]
        out.append(row)
    return out
