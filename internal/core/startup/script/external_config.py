"""Writes the configuration that the server reads, with the metadata that only the images contain."""

import json
import os

from external_package import Refused


def complete(data, providers):
    """Returns the configuration with the type and module of each provider that lack them. The other text is unchanged."""
    unknown = [provider for provider in providers if provider.unknown]
    if not unknown:
        return data
    import yaml
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = data.decode()
    try:
        root = yaml.compose(text, Loader=loader)
    except (yaml.YAMLError, RecursionError):
        raise Refused("The configuration is not valid YAML. Check the stack's ConfigMap with the configuration.") from None
    edits = []
    for provider in unknown:
        edits += _edits(_entry(root, provider), provider)
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text.encode()


def _get(node, key):
    """Returns the nodes of a key and its value, or None twice if the key is missing."""
    pairs = node.value if node is not None and node.id == "mapping" else []
    return next(((name, value) for name, value in pairs if name.value == key), (None, None))


def _entry(root, provider):
    """Returns the provider's entry in the configuration."""
    _, providers = _get(root, "providers")
    _, entries = _get(providers, provider.api)
    for entry in entries.value if entries is not None and entries.id == "sequence" else []:
        _, ident = _get(entry, "provider_id")
        if ident is not None and ident.value == provider.id:
            return entry
    provider.refuse(f'The configuration has no provider "{provider.id}" of {provider.api}, which {provider.path} requests.')


def _edits(entry, provider):
    """Returns the edits that set the type, and the module at its place or after the type."""
    key, kind = _get(entry, "provider_type")
    if kind is None:
        provider.refuse(f'The configuration\'s provider "{provider.id}" of {provider.api} has no provider_type.')
    _, module = _get(entry, "module")
    behind = ""
    edits = []
    if module is not None:
        edits.append((module.start_mark.index, module.end_mark.index, json.dumps(provider.module)))
    elif entry.flow_style:
        behind = f", module: {json.dumps(provider.module)}"
    else:
        behind = f"\n{' ' * key.start_mark.column}module: {json.dumps(provider.module)}"
    return [*edits, (kind.start_mark.index, kind.end_mark.index, json.dumps(provider.type) + behind)]


def write(config, directory, providers):
    """Writes the configuration and the other files of its directory to another directory, each file atomically."""
    files = {}
    beside = os.path.dirname(os.path.abspath(config))
    for name in sorted(os.listdir(beside)):
        path = os.path.join(beside, name)
        if name.startswith("..") or not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            data = file.read()
        files[name] = complete(data, providers) if name == os.path.basename(config) else data
    os.makedirs(directory, exist_ok=True)
    for name, data in files.items():
        put(os.path.join(directory, name), data)


def put(path, data):
    """Writes a file atomically."""
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.replace(path + ".new", path)
