"""Describes the storage section: the kinds of backends, and the stores of the server.

Release 0.2 and older releases do not have this section. In these releases, every store contains a complete backend, and
the two stores of the server are keys of the top level.
"""

from typing import Any

from pydantic import BaseModel

from . import secrets, typetext
from .classes import Catalog, plain
from .package import Package

type Row = dict[str, Any]

_MODULE = "core.storage.datatypes"

# These are the classes of the backends of each family in release 0.2 and older.
_INLINE = (
    ("kv", "providers.utils.kvstore.config", "KVStoreConfig"),
    ("sql", "providers.utils.sqlstore.sqlstore", "SqlStoreConfig"),
)


def describe(package: Package, catalog: Catalog, config: type[BaseModel]) -> Row:
    """Returns the backends by type, and the stores in declared order."""
    if "storage" not in config.model_fields:
        return {
            "inline": True,
            "backends": _inline_backends(package, catalog),
            "stores": inline_stores(catalog.rows[catalog.name(config)]["keys"]),
        }
    return {"backends": _backends(package, catalog), "stores": _stores(package, catalog)}


def _backends(package: Package, catalog: Catalog) -> Row:
    out = {}
    for cls in typetext.classes(package.load(_MODULE, "StorageBackendConfig"), BaseModel):
        kind = _type(cls)
        out[kind] = _backend(cls, kind.partition("_")[0], catalog)
    return dict(sorted(out.items()))


def _inline_backends(package: Package, catalog: Catalog) -> Row:
    """Returns the backends by their names since release 0.3, each with its `type` in release 0.2 and older."""
    out = {}
    for family, module, union in _INLINE:
        for cls in typetext.classes(package.load(module, union), BaseModel):
            out[f"{family}_{_type(cls)}"] = _backend(cls, family, catalog) | {"type": _type(cls)}
    return dict(sorted(out.items()))


def _type(cls: type) -> str:
    return str(plain(cls.model_fields["type"].default))  # type: ignore[attr-defined]


def _backend(cls: type, family: str, catalog: Catalog) -> Row:
    name = catalog.name(cls)
    return {"class": name, "family": family} | _connection(catalog.rows[name]["keys"])


def inline_stores(keys: list[Row]) -> list[Row]:
    """Returns the stores of the server that are keys of the top level. `metadata_store` is the store `metadata`."""
    out = []
    for key in keys:
        if key["name"].endswith("_store"):
            family = "kv" if "KVStoreConfig" in key["type"] else "sql"
            out.append({"name": key["name"].removesuffix("_store"), "key": key["name"], "family": family})
    return out


def _connection(keys: list[Row]) -> Row:
    names = {key["name"] for key in keys}
    row: Row = {}
    if "password" in names:
        row["credential_key"] = "password"
    if "connection_string" in names and secrets.is_secret("connection_string", "str"):
        row["connection_string_key"] = "connection_string"
    return row


def _stores(package: Package, catalog: Catalog) -> list[Row]:
    stores = catalog.rows[catalog.name(package.load(_MODULE, "ServerStoresConfig"))]
    out = []
    for key in stores["keys"]:
        name = key["type"].removesuffix(" | null")
        keys = {reference["name"] for reference in catalog.rows[name]["keys"]}
        row: Row = {"name": key["name"], "class": name, "family": "kv" if "namespace" in keys else "sql"}
        if key.get("default") is not None:
            row["default"] = key["default"]
        out.append(row)
    return out
