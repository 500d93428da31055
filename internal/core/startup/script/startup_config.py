"""Reads the configuration in the same way as the server of a release."""

import json
import os
import re
from importlib import metadata

REFERENCE = re.compile(r"\$\{env\.([A-Z0-9_]+)(?::([=+])([^}]*))?\}")
DISABLED = (None, "", "__disabled__")


class Refused(Exception):
    """The registry cannot be updated. The text has the reason and contains no value."""


class Place:
    """A namespace in a backend of the configuration. `written` is the namespace as the configuration has it."""

    def __init__(self, backend, settings, written):
        self.backend, self.settings, self.written = backend, settings, str(written)
        self.kind = str(settings.get("type"))
        self.namespace = str(resolve(written) or "")


def release(path):
    """Returns the release of the installed server and its facts, merged from all release lines up to its own."""
    with open(path, encoding="utf-8") as file:
        lines = {tuple(map(int, name.split("."))): facts for name, facts in json.load(file).items()}
    packages = list(dict.fromkeys(f["package"] for _, f in sorted(lines.items(), reverse=True) if "package" in f))
    for package in packages:
        try:
            text = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
        line = tuple(int(n) for n in re.findall(r"\d+", text)[:2])
        facts = {}
        for known in sorted(lines):
            if known <= line:
                facts.update(lines[known])
        if not facts:
            raise Refused(f"release {text} stores its registry in another form")
        return text, facts
    raise Refused("the image has none of the packages " + ", ".join(packages))


def resolve(value):
    """Replaces references to the environment and converts the result as the server does."""
    if isinstance(value, dict):
        return {key: resolve(item) for key, item in value.items()}
    if isinstance(value, list):
        return [resolve(item) for item in value]
    if not isinstance(value, str) or "${" not in value:
        return value
    text = REFERENCE.sub(_substitute, value)
    if text == value:
        return value
    if text.lower() in ("", "true", "false"):
        return {"": None, "true": True, "false": False}[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


def _substitute(match):
    name, operator, text = match.groups()
    value = os.environ.get(name)
    if operator == "=":
        value = value or text
    elif operator == "+":
        value = text if value else ""
    elif not value:
        raise Refused(f"the variable {name} is not set")
    return os.path.expanduser(value)


def mappings(value):
    """Returns the mappings in a list, or none if the value is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def section(tree, *keys):
    """Returns the mapping at a path, or an empty one if there is none."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}


class Config:
    """A configuration file. `declared` contains the entries of the registry that it declares. `complete` is False if an
    entry is unknown because a variable is not set."""

    def __init__(self, path, facts):
        import yaml
        try:
            with open(path, encoding="utf-8") as file:
                self.tree = yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            raise Refused("the configuration is not valid YAML" + (f", see line {mark.line + 1}" if mark else "")) from None
        self.facts = facts
        self.complete = True
        self.declared = set()
        for name, kind in facts["kinds"].items():
            if not kind.get("dropped"):
                for entry in mappings(section(self.tree, "registered_resources").get(name)):
                    self._declare(kind, entry)

    def _declare(self, kind, entry):
        """Adds an entry of a list, unless the server skips it."""
        try:
            ident, provider, own = (resolve(entry.get(key)) for key in (kind["id"], "provider_id", kind.get("own")))
        except Refused:
            self.complete = False
            return
        if ident in DISABLED or (provider in DISABLED and not kind.get("providerless")):
            return
        keeps = provider == kind.get("any", False) or kind.get("prefix_once") and str(ident).startswith(f"{provider}/")
        if "form" in kind and not keeps:
            values = {kind["id"]: ident, "provider_id": provider, kind.get("own"): own or ident}
            ident = re.sub(r"\{(\w+)\}", lambda match: str(values[match[1]]), kind["form"])
        self.declared.add(f"{kind['type']}:{ident}")

    def place(self, reference):
        """Returns the place of a reference {backend, namespace}."""
        name = resolve(reference.get("backend"))
        settings = section(self.tree, "storage", "backends", name)
        if not settings:
            raise Refused(f"the configuration has no storage backend {name}")
        defaults = self.facts["backends"].get(settings.get("type"), {})
        return Place(name, {**defaults, **resolve(settings)}, reference.get("namespace"))

    def registry_place(self):
        """Returns the place of the registry."""
        return self.place(section(self.tree, "storage", "stores", "metadata") or self.facts["metadata"])

    def providers(self, api):
        """Returns the ids and the settings of the enabled providers of an API."""
        found = {}
        for provider in mappings(section(self.tree, "providers").get(api)):
            ident = resolve(provider.get("provider_id"))
            if ident not in DISABLED:
                found[ident] = section(provider, "config")
        return found
