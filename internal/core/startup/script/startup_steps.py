"""Removes entries from the registry of a stack before the server starts."""

import json
import os
import re

from startup_config import Refused

LIST = "llamastack.io:registry:declared"  # the declared entries; the server does not read this key
MAX_LIST = 4 << 20
ENTRY = re.compile(r"[a-z_]+:.+", re.DOTALL)


class Registry:
    """The entries of a namespace, named type:id, and their pending changes."""

    def __init__(self, store, place, facts, say):
        self.store, self.place, self.facts, self.say = store, place, facts, say
        plain = place.kind == "kv_sqlite" and not facts["namespace_in_file"]
        self.base = "" if plain or not place.namespace else place.namespace + ":"
        self.drop, self.add, self.put = set(), {}, {}
        store.guard(self.base + LIST)
        self.entries = self.read(self.base)

    def read(self, base):
        """Returns the texts of the entries with a prefix, by type:id. The text of an entry that is too long is None."""
        prefix = base + self.facts["key_prefix"]
        return {key[len(prefix):]: text for key, text in self.store.read(prefix).items()}

    def take_out(self, entries, why):
        """Marks entries for removal, and prints the existing ones."""
        there = sorted(entry for entry in entries if entry in self.entries)
        self.drop.update(entries)
        for entry in there:
            del self.entries[entry]
            self.add.pop(entry, None)
        self.tell(f"removed, {why}", there)

    def tell(self, what, entries):
        """Prints an action on entries, unless there are none."""
        more = f" and {len(entries) - 20} more" if len(entries) > 20 else ""
        if entries:
            self.say(f"{what}: {', '.join(entries[:20])}{more}")

    def commit(self):
        """Writes all changes in one transaction."""
        prefix = self.base + self.facts["key_prefix"]
        self.store.apply({prefix + entry for entry in self.drop}, {prefix + entry: text for entry, text in self.add.items()},
                         {self.base + key: text for key, text in self.put.items()})

    def preflight(self):
        """Clears the namespace of a preflight pod. Reports whether this is such a pod, which needs no other change. A
        preflight pod with a file has its own file, and is handled like any other pod."""
        if os.environ.get("LLS_PREFLIGHT") != "true" or self.place.kind == "kv_sqlite":
            return False
        own = re.fullmatch(r"\$\{env\.LLS_REGISTRY:=(.+)\}", self.place.written)
        if not own or self.place.namespace != own[1] + "/preflight":
            raise Refused("the preflight pod has no separate namespace")
        self.take_out(list(self.entries), "left by an earlier preflight pod")
        self.commit()
        return True


def reconcile(registry, config, release):
    """Removes entries that the server registers again and entries that are no longer declared, and updates the list of
    declared entries. A pod of an older generation does not remove entries that a newer one declared."""
    stack, generation = _generation()
    before = _read_list(registry, stack)
    gone = {entry for entry, since in before.items() if entry not in config.declared and since <= generation}
    if not config.complete:
        registry.say("a variable of a declared entry is not set: entries that are no longer declared stay")
        gone = set()
    registry.take_out(config.declared, "to be registered again")
    registry.take_out(gone, "no longer declared")
    registry.take_out(_published(registry, config), "published by providers")
    declared = {entry: since for entry, since in before.items() if entry not in gone}
    declared.update((entry, max(before.get(entry, 0), generation)) for entry in config.declared)
    registry.put[LIST] = json.dumps(
        {"version": 1, "stack": stack, "release": release, "declared": declared}, sort_keys=True, separators=(",", ":"))


def _generation():
    """Returns the stack's UID and the generation of this pod's configuration."""
    stack, _, number = os.environ.get("LLS_GENERATION", "").rpartition("/")
    return stack, int(number) if number.isdecimal() else 0


def _read_list(registry, stack):
    """Returns the declared entries, with the last generation that declared them. The content of the list is not trusted."""
    text = registry.store.get(registry.base + LIST)
    if text is None and registry.place.kind == "kv_sqlite":
        text = registry.store.get(LIST)  # written before the file had namespaces
    if text is None:
        return {}
    try:
        kept = json.loads(text if len(text) <= MAX_LIST else "")
        same = kept["stack"] == stack
        return {entry: since if same and type(since) is int and since > 0 else 0
                for entry, since in kept["declared"].items() if ENTRY.fullmatch(entry)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        registry.say("the list of declared entries cannot be read: a new list is created")
        return {}


def _published(registry, config):
    """Returns the entries that providers published and the server writes again, and entries of removed providers."""
    found = set()
    for rule in registry.facts["published"]:
        providers = None
        if "api" in rule:
            try:
                providers = config.providers(rule["api"])
            except Refused:
                continue  # a variable is not set, so the removed providers are unknown
        for entry, text in registry.entries.items():
            kind, _, ident = entry.partition(":")
            if kind != rule["type"] or ident not in rule.get("ids", [ident]):
                continue
            value = parse(text)
            if providers is None or (value.get("source") == rule["source"] and value.get("provider_id") not in providers):
                found.add(entry)
    return found


def parse(text):
    """Returns the fields of an entry, or none if it cannot be parsed."""
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {}
