"""Finds environment variables: those that code reads, and those in the text of a config."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

# The pattern matches the server's substitutions: ${env.NAME}, ${env.NAME:=default}, ${env.NAME:+text}.
REFERENCE = re.compile(r"\$\{env\.([A-Z0-9_]+)(?::([=+])([^}]*))?\}")

_KEPT = ("PATH", "HOME")


class _Recorder(MutableMapping[str, str]):
    """Provides an environment with only PATH and HOME, and records the other variables that code reads."""

    def __init__(self, base: Mapping[str, str]) -> None:
        self._values = {name: base[name] for name in _KEPT if name in base}
        self.asked: list[str] = []

    def __getitem__(self, name: str) -> str:
        if name not in _KEPT and name not in self.asked:
            self.asked.append(name)
        return self._values[name]

    def __setitem__(self, name: str, value: str) -> None:
        self._values[name] = value

    def __delitem__(self, name: str) -> None:
        del self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def copy(self) -> dict[str, str]:
        return dict(self._values)


def unset[T](call: Callable[[], T]) -> tuple[T, list[str]]:
    """Makes a call without any variables of the server. Returns the result, and the variables that the call reads."""
    recorder, before = _Recorder(os.environ), os.environ
    os.environ = recorder  # type: ignore[assignment]
    try:
        return call(), recorder.asked
    finally:
        os.environ = before


def variables(text: str) -> list[dict[str, Any]]:
    """Returns the variables in the text of a config, sorted, with their defaults and the texts that they enable."""
    found: dict[str, dict[str, set[str]]] = {}
    required: set[str] = set()
    for name, operator, rest in REFERENCE.findall(text):
        uses = found.setdefault(name, {"defaults": set(), "enables": set()})
        match operator:
            case "=":
                uses["defaults"].add(rest)
            case "+":
                uses["enables"].add(rest)
            case _:
                required.add(name)
    rows = []
    for name in sorted(found):
        row: dict[str, Any] = {"name": name}
        row |= {use: sorted(values) for use, values in found[name].items() if values}
        if name in required:
            row["required"] = True
        rows.append(row)
    return rows
