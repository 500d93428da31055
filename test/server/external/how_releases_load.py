"""Prints how a release finds the specification of an external provider, by running the release's own code.

    python how_releases_load.py MODULE DIRECTORY

MODULE is llama_stack or ogx. DIRECTORY is an empty directory. The program writes test packages into it.
"""

import importlib
import json
import logging
import os
import sys
from types import SimpleNamespace

server, directory = sys.argv[1:]
sys.path.insert(0, directory)
logging.disable(logging.CRITICAL)
distribution = importlib.import_module(server + ".core.distribution")

SPEC = """
from {0} import Api, RemoteProviderSpec

def spec(kind):
    return RemoteProviderSpec(api=Api.inference, provider_type=kind, adapter_type="x", config_class="x.Config", module="x")

"""
ONE = "def get_provider_spec():\n    return spec('remote::one')\n"
TWO = "def get_provider_spec():\n    return [spec('remote::one'), spec('remote::two')]\n"

# For each name: the files of the package, and the values of module and provider_type in the configuration.
CASES = {
    "one": ({"provider.py": ONE}, "one", "remote::one"),
    "one, with another type": ({"provider.py": ONE}, "one", "remote::other"),
    "one, with a type of the server": ({"provider.py": ONE}, "one", "remote::vllm"),
    "one, with a version": ({"provider.py": ONE}, "one==1.0", "remote::one"),
    "a list": ({"provider.py": TWO}, "two", "remote::two"),
    "a list without the type": ({"provider.py": TWO}, "two", "remote::three"),
    "in the package itself": ({"__init__.py": ONE}, "itself", "remote::one"),
    "in a separate module": ({"provider.py": ONE}, "one.provider", "remote::one"),
    "no such function": ({"provider.py": ""}, "none", "remote::one"),
    "an import that is missing": ({"provider.py": "import does_not_exist\n"}, "lacks", "remote::one"),
    "an import that fails": ({"provider.py": "1 / 0\n"}, "fails", "remote::one"),
}


def api_module():
    """Returns the name of the module that contains the classes of a specification."""
    for name in (server + "_api", server + ".providers.datatypes"):
        try:
            return importlib.import_module(name).__name__
        except ModuleNotFoundError:
            pass
    raise SystemExit("the release has no known module with the classes of a specification")


def outcome(number, files, module, kind):
    top = f"p{number}_{module.split('=')[0].split('.')[0]}"
    os.makedirs(os.path.join(directory, top))
    for name in {"__init__.py", *files}:
        with open(os.path.join(directory, top, name), "w", encoding="utf-8") as file:
            file.write(SPEC.format(api_module()) + files.get(name, ""))
    importlib.invalidate_caches()
    registry = {api: dict(specs) for api, specs in distribution.get_provider_registry().items()}
    inference = next(api for api in registry if api.value == "inference")
    entry = SimpleNamespace(provider_id="x", provider_type=kind, module=f"p{number}_{module}", config={})
    try:
        distribution.get_external_providers_from_module(registry, SimpleNamespace(providers={"inference": [entry]}), False)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).split('.')[0]}"
    found = registry[inference].get(kind)
    if isinstance(found, list):
        return "found, but a list instead of one specification"
    return "not found" if found is None else f"found with the type {found.provider_type}"


print(json.dumps({name: outcome(number, *case) for number, (name, case) in enumerate(CASES.items())}))
