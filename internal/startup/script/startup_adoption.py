"""Copies the data that earlier servers stored in other places. Earlier operators used a separate registry for each set of
resources, and files had no namespaces before 1.0. The data is copied once, and the old places do not change."""

import glob
import json
import os
import re

import startup_config
import startup_stores
from startup_steps import LIST, parse

ADOPTED = "llamastack.io:registry:adopted"  # the places that entries were taken from
CARRIED = "llamastack.io:registry:carried"  # in a namespace: its keys were copied
# Kinds that stacks declared. Only the place of the current resources shows which entries of them clients registered.
OF_RESOURCES = ("model", "shield", "tool_group")


def adopt(registry, config, earlier):
    """Adds entries of other places that are missing in this registry, those of the current resources first."""
    done = _done(registry)
    places = list(_files(registry, earlier, done))
    if done is None:
        places += _namespaces(registry, earlier)
    today = _today(registry, places, earlier)
    for name, entries in sorted(places, key=lambda place: place[0] != today):
        taken = {entry: text for entry, text in entries.items()
                 if entry not in registry.entries and entry not in config.declared
                 and _wanted(registry, entry, text, name == today)}
        registry.entries.update(taken)
        registry.add.update(taken)
        registry.tell(f"adopted from {name}", sorted(taken))
    if places or done is None:
        names = {name for name, _ in places} | set(done or ())
        registry.put[ADOPTED] = json.dumps({"version": 1, "places": sorted(names)})


def _done(registry):
    """Returns the adopted places, or None if the registry has never adopted any."""
    text = registry.store.get(registry.base + ADOPTED)
    if text is None:
        return None
    places = parse(text).get("places")
    return [name for name in places if isinstance(name, str)] if isinstance(places, list) else []


def _files(registry, earlier, done):
    """Returns the registries in separate files, newest first."""
    if registry.place.kind != "kv_sqlite" or not earlier:
        return
    directory = os.path.dirname(str(startup_config.resolve(earlier)))
    found = [path for path in glob.glob(os.path.join(glob.escape(directory), "registry-????????.db"))
             if re.fullmatch(r"registry-[0-9a-f]{8}\.db", os.path.basename(path))]
    for path in sorted(found, key=os.path.getmtime, reverse=True):
        name = os.path.basename(path)
        if name not in (done or ()):
            try:
                yield name, _read_file(path, registry.facts["key_prefix"])
            except Exception as error:
                registry.say(f"skipped {name}: {type(error).__name__}")


def _read_file(path, prefix):
    """Returns the entries in a file. If its last writer was killed, SQLite must open the file for writing to repair it."""
    for mode in ("ro", "rw"):
        try:
            store = startup_stores.Sqlite(path, mode)
            try:
                return {key[len(prefix):]: text for key, text in store.read(prefix).items()}
            finally:
                store.close()
        except startup_stores.sqlite3.OperationalError:
            if mode == "rw":
                raise


def _namespaces(registry, earlier):
    """Returns the registries in other namespaces of the same store."""
    shared = registry.place.kind != "kv_sqlite"
    plain = registry.place.namespace.rsplit("/", 2)[0] if shared else registry.place.namespace
    if registry.base:
        pattern = re.compile(re.escape(plain) + r"-[0-9a-f]{8}(?=:" + re.escape(registry.facts["key_prefix"]) + ")")
        names = {match[0] for match in map(pattern.match, registry.store.keys(plain + "-")) if match}
        if shared:
            names |= {plain, str(startup_config.resolve(earlier) or plain)} - {registry.place.namespace}
        for name in sorted(names):
            yield "namespace " + name, registry.read(name + ":")
        if not shared:
            yield "keys without a namespace", registry.read("")


def _today(registry, places, earlier):
    """Returns the name of the place in use: the place of the current resources, or else a place without resources."""
    names = [name for name, entries in places if entries]
    if registry.place.kind == "kv_sqlite" and registry.base and registry.store.get(LIST) is not None:
        return "keys without a namespace"
    mark = re.search(r"-([0-9a-f]{8})(\.db)?$", earlier)
    own = [name for name in names if mark and re.search(rf"-{mark[1]}(\.db)?$", name)]
    rest = [name for name in names if not re.search(r"-[0-9a-f]{8}(\.db)?$", name)]
    return (own + rest + [""])[0]


def _wanted(registry, entry, text, today):
    """Reports whether a client may have registered the entry, and this server can read it."""
    kind, _, ident = entry.partition(":")
    value = parse(text)
    for rule in registry.facts["published"]:
        if kind == rule["type"] and ident in rule.get("ids", [ident]) \
                and value.get("source") == rule.get("source", value.get("source")):
            return False
    known = kind in (known["type"] for known in registry.facts["kinds"].values())
    return known and bool(value) and (today or kind not in OF_RESOURCES)


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
            keys = [key for prefix in prefixes for key in store.keys(prefix, -1) if belongs(key)]
            store.copy(keys, place.namespace + ":")
            store.apply((), {}, {mark: json.dumps({"version": 1, "keys": len(keys)})})
            if keys:
                registry.say(f"copied {len(keys)} keys to the namespace {place.namespace}")
    finally:
        store.close()
