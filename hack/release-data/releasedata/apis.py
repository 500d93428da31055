"""Describes the APIs of a release: those that a user can configure, those that the server adds, and their routers."""

import importlib
from typing import Any

from .package import Package

type Row = dict[str, Any]


def _enum(package: Package) -> Any:
    for module in (package.api_module, f"{package.api_module}.datatypes", f"{package.module}.apis.datatypes"):
        try:
            return importlib.import_module(module).Api
        except (ImportError, AttributeError):
            continue
    raise ImportError(f"{package.distribution} {package.version} has no Api enumeration in a known place")


def describe(package: Package) -> list[Row]:
    """Returns one row per API, in the order of the server's enumeration."""
    distribution = importlib.import_module(f"{package.module}.core.distribution")
    providable = {api.value for api in distribution.providable_apis()}
    internal = {api.value for api in getattr(distribution, "INTERNAL_APIS", ())}
    routed = {
        info.router_api.value: info.routing_table_api.value for info in distribution.builtin_automatically_routed_apis()
    }
    return rows([api.value for api in _enum(package)], providable, internal, routed, skips_missing(package))


def skips_missing(package: Package) -> bool:
    """Returns whether the server skips a listed API without an implementation. Older servers exit with an error."""
    return "Skipping API with no implementation" in package.source("core/server/server.py")


def rows(
    names: list[str], providable: set[str], internal: set[str], routed: dict[str, str], skips: bool = False
) -> list[Row]:
    """Returns the rows for the given names; `routed` maps a router API to its routing table."""
    routers = {table: router for router, table in routed.items()}
    out = []
    for name in names:
        row: Row = {"name": name}
        if name in providable:
            row["providable"] = True
            # The server creates a router even without a provider, but creates other APIs only with a provider.
            if name not in routed and not skips:
                row["needs_provider"] = True
        if name in internal:
            row["internal"] = True
        if name in routed:
            row["routing_table"] = routed[name]
        if name in routers:
            row["router"] = routers[name]
        out.append(row)
    return out
