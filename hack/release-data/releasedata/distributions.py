"""The configs that a release ships, whole, with the environment variables they read."""

import pathlib
from typing import Any

import yaml

from . import environment
from .package import Package

type Row = dict[str, Any]

_DIRECTORIES = ("distributions", "templates")  # the second up to 0.2
_MAIN = ("config.yaml", "run.yaml")


def describe(package: Package) -> dict[str, Row]:
    """One row per shipped config, by name: `starter`, or `starter/run-with-postgres-store` for a variant."""
    out = {}
    for directory in _DIRECTORIES:
        for path in sorted((package.root / directory).glob("*/*.yaml")):
            text = path.read_text()
            config = yaml.safe_load(text)
            if isinstance(config, dict) and isinstance(config.get("providers"), dict):
                out[name(path)] = {"variables": environment.variables(text), "config": config}
    return dict(sorted(out.items()))


def name(path: pathlib.Path) -> str:
    """The name of a shipped config by its file."""
    return path.parent.name if path.name in _MAIN else f"{path.parent.name}/{path.stem}"


def config_file(package: Package) -> str:
    """The name that the release gives to the config of a distribution."""
    for candidate in _MAIN:
        if any((package.root / directory / "starter" / candidate).exists() for directory in _DIRECTORIES):
            return candidate
    raise FileNotFoundError("the release ships no starter distribution")
