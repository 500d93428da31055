"""Describes the provider types of a release, with their keys and the results of the rules."""

import importlib
import re
from typing import Any

from pydantic import BaseModel

from . import defaults, endpoints, environment, standins
from .classes import Catalog, plain
from .package import Package

type Row = dict[str, Any]

# Some requirement lists contain options for the installer.
_INDEX_OPTION = re.compile(r"\s*--(?:extra-)?index-url\s+\S+")


def describe(package: Package, catalog: Catalog, data_dir: str) -> dict[str, Row]:
    """Returns one row per provider type, by `api/type`, sorted."""
    distribution = importlib.import_module(f"{package.module}.core.distribution")
    out = {}
    for api, specs in distribution.get_provider_registry().items():
        for kind, spec in specs.items():
            out[f"{api.value}/{kind}"] = _row(package, catalog, data_dir, api.value, spec)
    return dict(sorted(out.items()))


def _row(package: Package, catalog: Catalog, data_dir: str, api: str, spec: Any) -> Row:
    adapter = getattr(spec, "adapter", None)  # up to release 0.3, contains facts of remote providers
    dotted = spec.config_class or getattr(adapter, "config_class", "")
    cls: type[BaseModel] = standins.import_object(dotted, never=(package.module, package.api_module))
    name = catalog.name(cls)
    keys = catalog.rows[name]["keys"]
    row: Row = {"config": name}
    row |= _facts(api, keys) | {
        "required_defaults": defaults.required_defaults(api, keys, catalog.rows, _example(cls), data_dir),
        "requires": [needed.value for needed in spec.api_dependencies],
        "optional": [used.value for used in spec.optional_api_dependencies],
        "packages": _packages(spec, adapter),
        "tool_group": getattr(spec, "toolgroup_id", None),
        "deprecated": getattr(spec, "deprecation_warning", None) or getattr(spec, "deprecation_error", None),
    }
    return {name: value for name, value in row.items() if value}


def _facts(api: str, keys: list[Row]) -> Row:
    return {
        "endpoint_key": endpoints.endpoint_key(keys),
        "endpoint_path": endpoints.endpoint_path(api, keys),
        "port_key": endpoints.port_key(keys),
        "credential_key": endpoints.credential_key(keys),
        "region_key": endpoints.region_key(keys),
    }


def _packages(spec: Any, adapter: Any) -> list[str]:
    packages = getattr(spec, "pip_packages", None) or getattr(adapter, "pip_packages", None) or []
    return [_INDEX_OPTION.sub("", package).strip() for package in packages]


def _example(cls: type[BaseModel]) -> Row:
    """Returns the example config of the server for the type. It is empty if there is no example."""
    make = getattr(cls, "sample_run_config", None)
    if make is None:
        return {}
    try:
        example, _ = environment.unset(lambda: make(__distro_dir__=defaults.DIRECTORY))
    except TypeError:  # an example without this argument contains no path
        return {}
    return dict(plain(example or {}))
