"""Checks the entry point of a provider: the function get_provider_spec.

Each release imports the module MODULE.provider and calls its get_provider_spec. The metadata format does
not specify the module of the function, so if MODULE itself has the function, this program creates MODULE.provider.
"""

import ast
import os
import warnings

FUNCTION = "get_provider_spec"
MADE = '''"""Created when the package was installed, because the server imports the function from this module."""

from {0} import {1}

__all__ = ["{1}"]
'''


def check(providers, target, path):
    """Checks the module of each provider, in the installed packages or on the server's path."""
    types = {}
    for provider in providers:
        _check_module(provider, target, path)
        other = types.setdefault((provider.api, provider.type), provider)
        if other.module != provider.module:
            provider.refuse(
                f'Provider "{other.id}" ({other.image}) and {provider} both have the type {provider.type}, from the modules '
                f"{other.module} and {provider.module}: the server supports one module for each type. Give one of them "
                "another type.")


def _check_module(provider, target, path):
    relative = provider.module.replace(".", "/")
    places = [os.path.join(place or ".", relative) for place in [target, *path]]
    package = next((place for place in places if os.path.isdir(place)), None)
    if package is None:
        plain = any(os.path.isfile(place + ".py") for place in places)
        found = "a module with this name, which is not a package" if plain else "no package with this name"
        provider.refuse(f"The image {provider.image} names the package {provider.module} in packageName, and its wheels have "
                        f"{found}. Name the Python package that has the module provider with {FUNCTION}.")
    if _has_module(package, "provider"):
        source = _source(os.path.join(package, "provider.py"), provider)
        if source is not None and not _binds(source):
            provider.refuse(f"The module {provider.module}.provider in image {provider.image} has no {FUNCTION}. The server "
                            "calls it: add this function.")
        return
    source = _source(os.path.join(package, "__init__.py"), provider)
    if source is None or not _binds(source) or not package.startswith(target + os.sep):
        hint = f" Write {provider.module.rpartition('.')[0]} as packageName." if provider.module.endswith(".provider") else ""
        provider.refuse(f"The package {provider.module} in image {provider.image} has no module provider with {FUNCTION}, which "
                        f"the server imports.{hint or ' Add the module.'}")
    with open(os.path.join(package, "provider.py"), "w", encoding="utf-8") as file:
        file.write(MADE.format(provider.module, FUNCTION))


def _has_module(package, name):
    """Reports whether a package has a module, as a source file, a package or a compiled file."""
    names = os.listdir(package)
    return any(found == name or found.startswith(name + ".") and found.endswith((".py", ".so", ".pyc")) for found in names)


def _source(path, provider):
    """Returns the syntax tree of a module's source, or None if there is no source."""
    try:
        with open(path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(file.read())
    except FileNotFoundError:
        return None
    except (SyntaxError, ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        provider.refuse(f"The module {provider.module}.{os.path.basename(path)[:-3]} in image {provider.image} cannot be read by "
                        f"this server's Python{line}: {type(error).__name__}. Build the package for this Python.")


def _binds(tree):
    """Reports whether a module defines, imports or assigns the name of the function."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == FUNCTION:
            return True
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if any((alias.asname or alias.name) in (FUNCTION, "*") for alias in node.names):
                return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == FUNCTION:
            return True
    return False
