"""Reads and writes a registry with the server's own classes, and registers resources as a server does when it starts.

Run this program with the interpreter of a release's environment. For each line with a JSON object on standard input, it
writes a line with a JSON object to standard output:

    {"config": "<config.yaml as text>", "env": {"NAME": "value"}, "do": [["list"], ["get", "key"]]}
    {"results": [...]}  or  {"error": "..."}

The actions in "do" are:

    ["register", entry]   writes an entry, as a request of a client does
    ["start"]             registers the resources in the configuration with the server's register_resources and routing
                          tables, and with a stand-in for every provider. The result is the error that would stop
                          the server
    ["delete", type, id]  removes an entry
    ["list"]              returns the entries by type:id
    ["get", key]          reads a value of the key-value store
    ["set", key, value]   writes a value of the key-value store

"namespace" and "db_path" in a request replace the values in the configuration.
"""

import asyncio
import importlib
import importlib.util
import inspect
import json
import logging
import os
import sys
from types import SimpleNamespace

import yaml

ENVIRONMENT = dict(os.environ)
PACKAGE = "ogx" if importlib.util.find_spec("ogx") else "llama_stack"


def module(*names):
    """Returns the first of the modules that exists in the release."""
    for name in names:
        try:
            return importlib.import_module(f"{PACKAGE}.{name}")
        except ModuleNotFoundError as error:
            missing = error
    raise missing


datatypes = module("core.storage.datatypes")
kvstore = module("core.storage.kvstore.kvstore", "providers.utils.kvstore.kvstore")
registry = module("core.store.registry")
stack = module("core.stack")
core = module("core.datatypes")
pydantic = importlib.import_module("pydantic")
Config = getattr(core, "StackConfig", None) or core.StackRunConfig
Entry = pydantic.TypeAdapter(core.RoutableObjectWithProvider)
Backend = pydantic.TypeAdapter(datatypes.StorageBackendConfig)

# For each list: the module and the class of its routing table, and the API of its providers.
TABLES = {
    "models": ("models", "ModelsRoutingTable", "inference"),
    "shields": ("shields", "ShieldsRoutingTable", "safety"),
    "vector_stores": ("vector_stores", "VectorStoresRoutingTable", "vector_io"),
    "datasets": ("datasets", "DatasetsRoutingTable", "datasetio"),
    "scoring_functions": ("scoring_functions", "ScoringFunctionsRoutingTable", "scoring"),
    "benchmarks": ("benchmarks", "BenchmarksRoutingTable", "eval"),
    "tool_groups": ("toolgroups", "ToolGroupsRoutingTable", "tool_runtime"),
}


class Provider:
    """A provider that accepts every registration, like providers that do not contact a service."""

    def __init__(self, api):
        self.__provider_spec__ = SimpleNamespace(api=api)

    def __getattr__(self, name):
        async def answer(value=None, *_, **__):
            return SimpleNamespace(data=[]) if name.startswith("list_runtime") else value
        return answer


async def start(tree, disk):
    """Registers the resources in a configuration. Returns the error that would stop the server, or an empty string."""
    config = Config(**stack.replace_env_vars(tree))
    names = {row[1] for row in stack.RESOURCES}
    impls = {}
    for api in names:
        file, table, below = TABLES[api.value]
        ids = [p["provider_id"] for p in stack.replace_env_vars(tree)["providers"].get(below, [])]
        providers = {ident: Provider(type(api)(below)) for ident in ids if ident and ident != "__disabled__"}
        if providers:
            impls[api] = getattr(module("core.routing_tables." + file), table)(providers, disk, [])
    try:
        await stack.register_resources(config, impls)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


async def open_store(tree, request):
    """Opens the key-value store of the registry."""
    tree = stack.replace_env_vars(tree)
    reference = tree["storage"]["stores"]["metadata"]
    backend = dict(tree["storage"]["backends"][reference["backend"]])
    if "db_path" in request:
        backend["db_path"] = request["db_path"]
    kvstore.register_kvstore_backends({"kv": Backend.validate_python(backend)})
    namespace = request.get("namespace", reference["namespace"])
    return await kvstore.kvstore_impl(datatypes.KVStoreReference(namespace=namespace, backend="kv"))


async def answer(request):
    """Runs the actions of a request in order, and returns their results."""
    os.environ.clear()
    os.environ.update(ENVIRONMENT | (request.get("env") or {}))
    tree = yaml.safe_load(request["config"])
    store = await open_store(tree, request)
    disk = registry.DiskDistributionRegistry(store)
    cached = registry.CachedDiskDistributionRegistry(store)
    results = []
    for verb, *values in request["do"]:
        if verb == "register":
            results.append(await disk.register(Entry.validate_python(values[0])))
        elif verb == "start":
            results.append(await start(tree, cached))
        elif verb == "list":
            results.append({f"{e.type}:{e.identifier}": json.loads(e.model_dump_json()) for e in await disk.get_all()})
        elif verb == "delete":
            results.append(await disk.delete(*values))
        elif verb == "get":
            value = await store.get(values[0])
            results.append(value.decode() if isinstance(value, bytes) else value)  # release 0.3 returns bytes from Redis
        else:
            results.append(await store.set(*values))
    for name in ("shutdown", "close"):
        if inspect.iscoroutinefunction(getattr(store, name, None)):
            await getattr(store, name)()
            break
    return results


def main():
    """Answers requests until standard input ends. The output of the server goes to standard error."""
    logging.disable(logging.CRITICAL)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    loop = asyncio.new_event_loop()
    for line in sys.stdin:
        try:
            reply = {"results": loop.run_until_complete(answer(json.loads(line)))}
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=out, flush=True)


if __name__ == "__main__":
    main()
