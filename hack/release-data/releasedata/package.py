"""Finds the installed server package."""

import importlib
import importlib.metadata
import importlib.util
import pathlib
from dataclasses import dataclass
from typing import Any

# The server was renamed. The newer name comes first, because the older package also exists as a redirect.
_NAMES = (("ogx", "ogx", "ogx_api"), ("llama-stack", "llama_stack", "llama_stack_api"))


@dataclass(frozen=True)
class Package:
    """Identifies an installed server release."""

    distribution: str  # name in the package index
    version: str
    module: str  # top-level module of the server
    api_module: str  # top-level module of the API types; may be missing in old releases

    @property
    def root(self) -> pathlib.Path:
        """Returns the directory of the server's source."""
        spec = importlib.util.find_spec(self.module)  # an import would also require the packages that it imports
        if spec is None or not spec.submodule_search_locations:
            raise ImportError(f"{self.module} is not a package")
        return pathlib.Path(spec.submodule_search_locations[0])

    @property
    def line(self) -> str:
        """Returns the release line: 0.7 for 0.7.3."""
        return ".".join(self.version.split(".")[:2])

    def source(self, relative: str) -> str:
        """Returns the text of a source file. It is empty if the release does not have the file."""
        path = self.root / relative
        return path.read_text() if path.exists() else ""

    def load(self, module: str, *names: str) -> Any:
        """Returns the first of the attributes that a module of the server has. The names differ between releases."""
        loaded = importlib.import_module(f"{self.module}.{module}")
        for name in names:
            if hasattr(loaded, name):
                return getattr(loaded, name)
        raise AttributeError(f"{loaded.__name__} has none of {', '.join(names)}")


def find() -> Package:
    """Returns the installed server release. Raises SystemExit if there is none."""
    for distribution, module, api_module in _NAMES:
        try:
            version = importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
        return Package(distribution, version, module, api_module)
    raise SystemExit("neither ogx nor llama-stack is installed in this environment")
