"""Finds the facts about the start of the server of a release, from the source of its command line."""

import importlib.metadata
import re
from typing import Any

from . import distributions
from .classes import plain
from .package import Package

type Row = dict[str, Any]

_RUN = "cli/stack/run.py"


def describe(package: Package, config: type, server: type, apis: list[Row]) -> Row:
    """Returns the facts that the package contains. The overlay adds the facts that only the image shows."""
    source = package.source(_RUN)
    port = config_variable(source, "PORT")
    prefix = port.removesuffix("_PORT")
    keys = config.model_fields  # type: ignore[attr-defined]
    facts = {
        "config_file": distributions.config_file(package),
        "command": command(package),
        "factory_variable": f"{prefix}_CONFIG",
        "port_variable": port,
        "logging_variable": f"{prefix}_LOGGING",
        "telemetry_variables": "telemetry" not in keys and "telemetry" not in {api["name"] for api in apis},
        "telemetry_switch": "telemetry.enabled" if "telemetry" in keys else "",
        "data_dir": data_dir(package),
        "default_port": plain(server.model_fields["port"].default),  # type: ignore[attr-defined]
        "distribution_key": "distro_name" if "distro_name" in keys else "image_name",
        "server_port_ignored": server_port_ignored(source),
        "plain_http_refused": "TLS required" in source,
        "writes_temp": "mkstemp(" in source,
    }
    return {name: fact for name, fact in facts.items() if fact}


def config_variable(source: str, suffix: str) -> str:
    """Returns the first environment variable in the source whose name ends with the suffix."""
    found = re.search(rf"\"([A-Z_]+_{suffix})\"", source)
    if not found:
        raise ValueError(f"the command line reads no variable that ends in {suffix}")
    return found[1]


def server_port_ignored(source: str) -> bool:
    """Returns whether --port has a default, which hides the port in the config."""
    return bool(re.search(r"default=int\(os\.getenv\(", source))


def command(package: Package) -> list[str]:
    """Returns the command that starts the server with a config file as its last argument."""
    scripts = {
        entry.name
        for entry in importlib.metadata.distribution(package.distribution).entry_points
        if entry.group == "console_scripts"
    }
    program = "ogx" if "ogx" in scripts else "llama"
    return [program, "run"] if (package.root / "cli/run.py").exists() else [program, "stack", "run"]


def data_dir(package: Package) -> str:
    """Returns the directory in which the server stores its data by default."""
    for module in ("core.utils.config_dirs", "distribution.utils.config_dirs"):
        try:
            return str(plain(package.load(module, "DISTRIBS_BASE_DIR").parent))
        except (ImportError, AttributeError):
            continue
    raise ImportError("the release has no data directory in a known place")
