"""Describes the complete configs that a release contains, with the environment variables that they read.

    python -m releasedata.distributions remote-vllm

prints the data of one distribution that the newest release of a line no longer contains.
"""

import pathlib
import sys
from typing import Any

import yaml

from . import environment, layout, package
from .package import Package

type Row = dict[str, Any]

_DIRECTORIES = ("distributions", "templates")  # release 0.2 and older releases use the second name
_MAIN = ("config.yaml", "run.yaml")


def describe(package: Package) -> dict[str, Row]:
    """Returns one row for each config, by name: `starter`, or `starter/run-with-postgres-store` for a variant."""
    out = {}
    for directory in _DIRECTORIES:
        for path in sorted((package.root / directory).glob("*/*.yaml")):
            text = path.read_text()
            config = yaml.safe_load(text)
            if isinstance(config, dict) and isinstance(config.get("providers"), dict):
                out[name(path)] = {"variables": environment.variables(text), "config": config}
    return shorten(dict(sorted(out.items())))


def shorten(rows: dict[str, Row]) -> dict[str, Row]:
    """Removes the sections of a variant that are the same in the main config. The key `like` names the main config."""
    out = {}
    for found, row in rows.items():
        like, _, variant = found.partition("/")
        main = rows.get(like, {}).get("config", {})
        if variant and list(main) == list(row["config"]):
            own = {key: value for key, value in row["config"].items() if layout.dumps(value) != layout.dumps(main[key])}
            row = {"like": like, "variables": row["variables"], "config": own}
        out[found] = row
    return out


def name(path: pathlib.Path) -> str:
    """Returns the name of a config, from its file."""
    return path.parent.name if path.name in _MAIN else f"{path.parent.name}/{path.stem}"


def config_file(package: Package) -> str:
    """Returns the file name of the configs of distributions in the release."""
    for candidate in _MAIN:
        if any((package.root / directory / "starter" / candidate).exists() for directory in _DIRECTORIES):
            return candidate
    raise FileNotFoundError("the release has no starter distribution")


def main() -> None:
    """Prints the configs of a distribution and of its variants. Raises SystemExit if the release has none."""
    wanted, installed = sys.argv[1], package.find()
    shipped = {found: row for found, row in describe(installed).items() if found.partition("/")[0] == wanted}
    if not shipped:
        raise SystemExit(f"{installed.distribution} {installed.version} has no distribution {wanted}")
    document = {"line": installed.line, "version": installed.version, "distributions": shipped}
    sys.stdout.write(layout.dumps(document))


if __name__ == "__main__":
    main()
