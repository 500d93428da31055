"""Imports a module even if packages that it imports are missing.

The module with the configuration class of a provider often also imports the provider's client library. The class does
not need the library, so the import replaces a missing top-level package with a stand-in. A stand-in has every
attribute, and its attributes do nothing.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence
from typing import Any

_MOST = 40  # the limit of missing packages for one import; a higher number indicates another problem


class _Anything(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls


class _Nothing(metaclass=_Anything):
    """Can be called and subclassed, and has every attribute."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def __call__(self, *args: Any, **kwargs: Any) -> "_Nothing":
        return self


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self) -> None:
        self.packages: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] in self.packages:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None: ...


_finder = _Finder()


def import_object(dotted: str, never: Sequence[str] = ()) -> Any:
    """Returns the object at `package.module.Name`. Missing packages, except those in `never`, get stand-ins."""
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)
    module, _, name = dotted.rpartition(".")
    for _ in range(_MOST):
        try:
            return getattr(importlib.import_module(module), name)
        except ModuleNotFoundError as missing:
            package = (missing.name or "").partition(".")[0]
            if not package or package in never or package in _finder.packages:
                raise
            _finder.packages.add(package)
    raise ImportError(f"more than {_MOST} packages are missing for {dotted}")


def stood_in() -> list[str]:
    """Returns the missing packages that have stand-ins, sorted."""
    return sorted(_finder.packages)
