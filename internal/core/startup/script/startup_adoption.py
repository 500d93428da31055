"""Copies the data that the server stored in other places: in a namespace that a base configuration names, and in files,
which had no namespaces before 1.0. The data is copied once, and the old places do not change."""

import json
import os

import startup_config
import startup_stores
from startup_steps import parse

ADOPTED = "llamastack.io:registry:adopted"  # in a namespace: the place from which its entries were taken
CARRIED = "llamastack.io:registry:carried"  # in a namespace: its keys were copied


def adopt(registry, config):
    """Adds the entries that are missing in the registry's namespace, once: from the namespace of the base configuration, or
    from the keys without a namespace of the stack's own file."""
    if not registry.base or registry.store.get(registry.base + ADOPTED) is not None:
        return
    name, base = "keys without a namespace", ""
    if registry.place.kind != "kv_sqlite":
        plain = registry.place.namespace.rsplit("/", 2)[0]
        name, base = "namespace " + plain, plain + ":"
    taken = {entry: text for entry, text in registry.read(base).items()
             if entry not in registry.entries and entry not in config.declared and _wanted(registry, entry, text)}
    registry.entries.update(taken)
    registry.add.update(taken)
    registry.tell(f"adopted from {name}", sorted(taken))
    registry.put[ADOPTED] = json.dumps({"version": 1, "from": name})


def _wanted(registry, entry, text):
    """Reports whether a client may have registered the entry, and this server can read it."""
    kind, _, ident = entry.partition(":")
    value = parse(text)
    for rule in registry.facts["published"]:
        if kind == rule["type"] and ident in rule.get("ids", [ident]) \
                and value.get("source") == rule.get("source", value.get("source")):
            return False
    return bool(value) and kind in (known["type"] for known in registry.facts["kinds"].values())


def carry(registry, config, failed):
    """Copies the data that providers store in files under keys without a namespace, once for each namespace. In a file of
    several providers, the registry shows the owner of a key. A key without a known owner is copied for all."""
    owners = {entry.partition(":")[2]: parse(text).get("provider_id") for entry, text in registry.entries.items()
              if entry.startswith("vector_store:")}
    for api, prefixes in (registry.facts["carried"] or {}).items():
        try:
            providers = config.providers(api)
        except startup_config.Refused:
            continue  # a variable is not set: the server does not start either
        for provider, settings in providers.items():
            for reference in settings.values():
                if isinstance(reference, dict) and {"backend", "namespace"} <= set(reference):
                    try:
                        _carry(registry, config.place(reference), prefixes,
                               lambda key, own=provider: _owner(owners, key) in (None, own))
                    except Exception as error:
                        failed(provider, error)


def _owner(owners, key):
    """Returns the provider of the vector store in a key. The id of the vector store follows the version in the key."""
    ident = key.partition("::")[2]
    while ident and ident not in owners:
        ident = ident.rpartition(":")[0]
    return owners.get(ident)


def _carry(registry, place, prefixes, belongs):
    """Copies keys in one file to one namespace, within SQLite, because an index may be large."""
    path = str(place.settings.get("db_path"))
    if place.kind != "kv_sqlite" or not place.namespace or not os.path.exists(path):
        return
    store = startup_stores.Sqlite(path)
    try:
        mark = f"{place.namespace}:{CARRIED}"
        if store.get(mark) is None:
            keys = [key for prefix in prefixes for key in store.keys(prefix) if belongs(key)]
            store.copy(keys, place.namespace + ":")
            store.apply((), {}, {mark: json.dumps({"version": 1, "keys": len(keys)})})
            if keys:
                registry.say(f"copied {len(keys)} keys to the namespace {place.namespace}")
    finally:
        store.close()
