"""Combines the parts of a release's data."""

from typing import Any

from . import apis, distributions, providers, resources, runtime, storage
from .classes import Catalog
from .package import Package

type Row = dict[str, Any]


def describe(package: Package) -> Row:
    """Returns the complete data of an installed release."""
    catalog = Catalog()
    config = package.load("core.datatypes", "StackConfig", "StackRunConfig")
    server = package.load("core.datatypes", "ServerConfig")
    api_rows = apis.describe(package)
    started = runtime.describe(package, config, server, api_rows)
    document: Row = {
        "line": package.line,
        "version": package.version,
        "package": package.distribution,
        "module": package.module,
        "runtime": started,
        "apis": api_rows,
        "top_level": catalog.name(config),
        "server": catalog.name(server),
        "storage": storage.describe(package, catalog, config),
        "resources": resources.describe(package, catalog, config, api_rows),
        "providers": providers.describe(package, catalog, started["data_dir"]),
        "distributions": distributions.describe(package),
    }
    # The classes come last, because every part adds classes.
    document["classes"] = dict(sorted(catalog.rows.items()))
    return document
