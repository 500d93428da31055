"""Selects the wheels to install, and checks that they are compatible with each other and with the server."""

import importlib
import os
import platform
import re
import sys
from importlib import metadata
from types import SimpleNamespace

from external_package import DIRECTORY, Refused
from external_wheel import MAX_UNPACKED, Wheel

PARTS = ("tags", "utils", "version", "requirements")
SHOWN = 6  # the maximum number of missing packages in a message


def load_packaging():
    """Returns the library for versions and requirements, from the server or from pip."""
    for name in ("packaging", "pip._vendor.packaging"):
        try:
            return SimpleNamespace(**{part: importlib.import_module(f"{name}.{part}") for part in PARTS})
        except ImportError:
            pass
    raise Refused("The server's image has neither the Python package packaging nor pip. Add one of them to the server's image.")


class Server:
    """The Python environment of the server: its distributions, by name."""

    def __init__(self, packaging, own, without):
        self.packaging, self.found = packaging, {}
        path = [place for place in sys.path if os.path.realpath(place or ".") not in without]
        for distribution in metadata.distributions(path=path):
            name, version = _identity(distribution)
            name = packaging.utils.canonicalize_name(name)
            if name and version and name not in self.found:
                self.found[name] = (version, distribution)
        self.path = path
        self.own = [name for name in own if name in self.found]
        self.others = [name for name in own if name not in self.found]

    def __str__(self):
        return " ".join(f"{name} {self.found[name][0]}" for name in self.own[:1]) or "of an unknown release"

    def version(self, name):
        """Returns the version of a distribution, or None if the server lacks it or its version cannot be compared."""
        try:
            return self.packaging.version.Version(self.found[name][0]) if name in self.found else None
        except ValueError:
            return None

    def requirements(self):
        """Returns pairs of a distribution's name and a requirement that applies to this machine."""
        for name, (_, distribution) in sorted(self.found.items()):
            for text in distribution.requires or []:
                try:
                    requirement = self.packaging.requirements.Requirement(text)
                except ValueError:
                    continue
                if counts(requirement):
                    yield name, requirement


def _identity(distribution):
    """Returns name and version, from the name of the directory if it has the current form."""
    match = re.fullmatch(r"([^-]+)-([^-]+)\.dist-info", getattr(getattr(distribution, "_path", None), "name", ""))
    return match.groups() if match else (distribution.metadata["Name"] or "", distribution.metadata["Version"] or "")


def counts(requirement):
    """Reports whether a requirement applies to this machine, without extras."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def meets(requirement, version):
    return version is not None and requirement.specifier.contains(version, prereleases=True)


def choose(provider, packaging):
    """Returns the best wheel of each distribution of a provider for this Python, the main wheel first."""
    ranks = {tag: rank for rank, tag in reversed(list(enumerate(packaging.tags.sys_tags())))}
    groups = {}
    for path in provider.wheels():
        wheel = Wheel(provider, path, packaging)
        groups.setdefault(wheel.name, []).append(wheel)
    main = next(iter(groups)) if provider.wheel else None
    return [_best(groups[name], ranks) for name in sorted(groups, key=lambda name: (name != main, name))]


def _best(wheels, ranks):
    fitting = [wheel for wheel in wheels if any(tag in ranks for tag in wheel.tags)]
    here = f"this server runs Python {platform.python_version()} on {sys.platform} {platform.machine()}"
    if not fitting:
        built = ", ".join(wheel.file_name.removesuffix(".whl").split("-", 2)[2][:80] for wheel in wheels[:3])
        wheels[0].refuse(f"is built for {built}; {here}. Add a wheel for this Python to the image")
    best = min(fitting, key=lambda wheel: (min(ranks[tag] for tag in wheel.tags if tag in ranks), wheel.file_name))
    for wheel in fitting:
        if wheel.version != best.version:
            best.refuse(f"has version {best.version} of {best.name}, and {wheel.file_name} next to it has {wheel.version}. Keep "
                        "one of them")
    best.open()
    if not best.runs_on(platform.python_version().rstrip("+")):
        best.refuse(f"needs Python {best.requires_python}; {here}. Add a wheel for this Python to the image")
    return best


def resolve(chosen, server):
    """Returns the wheels to install, in order, from the wheels of all providers."""
    brought = {}
    for wheel in chosen:
        first = brought.setdefault(wheel.name, wheel)
        if first.version != wheel.version:
            wheel.provider.refuse(
                f"{_upper(first.provider)} brings {first}, and {wheel.provider} brings {wheel}: a server can use one of "
                "them. Build both images with the same version.")
        _not_the_server(wheel, server)
    new = {name: wheel for name, wheel in brought.items() if server.version(name) != wheel.version}
    unpacked = 0
    for wheel in new.values():
        unpacked += wheel.size
        if unpacked > MAX_UNPACKED:
            wheel.refuse(f"increases the unpacked size to {unpacked} bytes, more than the {MAX_UNPACKED} that fit on the volume")
    _check_needs(new, server)
    _check_server(new, server)
    return list(new.values())


def _upper(text):
    text = str(text)
    return text[:1].upper() + text[1:]


def _not_the_server(wheel, server):
    """Checks that a wheel does not replace the server by another release."""
    if wheel.name in server.others or wheel.name in server.own and server.version(wheel.name) != wheel.version:
        wheel.refuse(f"is release {wheel.version} of {wheel.name}, and the server is {server}: a provider must not contain a "
                     "server. Remove the wheel from the image, and use a version of the provider for this release")


def _check_needs(new, server):
    """Checks the requirements of the new wheels against the future packages of the server."""
    lacking, blamed = [], None
    for wheel in new.values():
        for requirement in wheel.requires:
            name = wheel.packaging.utils.canonicalize_name(requirement.name)
            version = new[name].version if name in new else server.version(name)
            if not counts(requirement) or meets(requirement, version) or (blamed or wheel).provider is not wheel.provider:
                continue
            blamed = blamed or wheel
            there = "it is not installed" if version is None else f"{'an image' if name in new else 'the server'} has {version}"
            place = 0 if name in server.own + server.others else len(lacking)  # another server comes first
            lacking.insert(place, f"{wheel} needs {requirement.name}{requirement.specifier} ({there})")
    if lacking:
        more = f"; and {len(lacking) - SHOWN} more" if len(lacking) > SHOWN else ""
        blamed.provider.refuse(
            f"{_upper(blamed.provider)} lacks packages: {'; '.join(lacking[:SHOWN])}{more}. The server is {server}. Add the "
            f"wheels to {DIRECTORY}/packages in the image, or use a version of the provider for this release.")


def _check_server(new, server):
    """Checks the requirements of the server's own distributions against the new versions, if they were met before."""
    replaced = {name for name in new if name in server.found}
    if not replaced:
        return
    for owner, requirement in server.requirements():
        name = server.packaging.utils.canonicalize_name(requirement.name)
        if owner in new or name not in replaced or meets(requirement, new[name].version):
            continue
        if meets(requirement, server.version(name)):
            wheel = new[name]
            wheel.provider.refuse(
                f"{_upper(wheel.provider)} brings {wheel}, and {owner} {server.found[owner][0]} of the server needs "
                f"{requirement.name}{requirement.specifier}; the server has {server.version(name)}. Remove the wheel from the "
                "image, or add a version that both can use.")
