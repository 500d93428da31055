"""Which wheels are installed, and whether they go together with each other and with the server."""

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
SHOWN = 6  # how many of the packages that lack a message names


def load_packaging():
    """The library for versions and requirements: the server's, or the one inside of pip."""
    for name in ("packaging", "pip._vendor.packaging"):
        try:
            return SimpleNamespace(**{part: importlib.import_module(f"{name}.{part}") for part in PARTS})
        except ImportError:
            pass
    raise Refused("The server's image has neither the Python package packaging nor pip. Add one of them to the server's image.")


class Server:
    """The Python environment of the server: the distributions that it has, by name."""

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
        """The version of a distribution, None when the server does not have it, or one that nobody can compare."""
        try:
            return self.packaging.version.Version(self.found[name][0]) if name in self.found else None
        except ValueError:
            return None

    def requirements(self):
        """What each distribution needs: pairs of its name and a requirement that counts here."""
        for name, (_, distribution) in sorted(self.found.items()):
            for text in distribution.requires or []:
                try:
                    requirement = self.packaging.requirements.Requirement(text)
                except ValueError:
                    continue
                if counts(requirement):
                    yield name, requirement


def _identity(distribution):
    """Name and version: from the directory's name, where that is of the form that tools write today."""
    match = re.fullmatch(r"([^-]+)-([^-]+)\.dist-info", getattr(getattr(distribution, "_path", None), "name", ""))
    return match.groups() if match else (distribution.metadata["Name"] or "", distribution.metadata["Version"] or "")


def counts(requirement):
    """Reports whether a requirement counts on this machine, without extras."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def meets(requirement, version):
    return version is not None and requirement.specifier.contains(version, prereleases=True)


def choose(provider, packaging):
    """The wheels of a provider, the best of each distribution for this Python, the main one first."""
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
        wheels[0].refuse(f"is built for {built}; {here}. Add a wheel for that to the image")
    best = min(fitting, key=lambda wheel: (min(ranks[tag] for tag in wheel.tags if tag in ranks), wheel.file_name))
    for wheel in fitting:
        if wheel.version != best.version:
            best.refuse(f"has version {best.version} of {best.name}, and {wheel.file_name} beside it has {wheel.version}. Keep "
                        "one of them")
    best.open()
    if not best.runs_on(platform.python_version().rstrip("+")):
        best.refuse(f"needs Python {best.requires_python}; {here}. Add a wheel for that to the image")
    return best


def resolve(chosen, server):
    """The wheels to install, in order, out of those that each provider brings."""
    brought = {}
    for wheel in chosen:
        first = brought.setdefault(wheel.name, wheel)
        if first.version != wheel.version:
            wheel.provider.refuse(
                f"{_upper(first.provider)} brings {first}, and {wheel.provider} brings {wheel}: one server can have one of "
                "them. Build both images with the same version.")
        _not_the_server(wheel, server)
    new = {name: wheel for name, wheel in brought.items() if server.version(name) != wheel.version}
    unpacked = 0
    for wheel in new.values():
        unpacked += wheel.size
        if unpacked > MAX_UNPACKED:
            wheel.refuse(f"brings what is unpacked to {unpacked} bytes, more than the {MAX_UNPACKED} that there is room for")
    _check_needs(new, server)
    _check_server(new, server)
    return list(new.values())


def _upper(text):
    text = str(text)
    return text[:1].upper() + text[1:]


def _not_the_server(wheel, server):
    """Keeps the server's own packages as they are: another release beside it would take its place."""
    if wheel.name in server.others or wheel.name in server.own and server.version(wheel.name) != wheel.version:
        wheel.refuse(f"is release {wheel.version} of {wheel.name}, and the server is {server}: a provider cannot bring a server. "
                     "Take the wheel out of the image, and take a version of the provider for this release")


def _check_needs(new, server):
    """Holds each new wheel's requirements to what the server will have."""
    lacking, blamed = [], None
    for wheel in new.values():
        for requirement in wheel.requires:
            name = wheel.packaging.utils.canonicalize_name(requirement.name)
            version = new[name].version if name in new else server.version(name)
            if not counts(requirement) or meets(requirement, version) or (blamed or wheel).provider is not wheel.provider:
                continue
            blamed = blamed or wheel
            there = "nothing has it" if version is None else f"{'an image' if name in new else 'the server'} has {version}"
            place = 0 if name in server.own + server.others else len(lacking)  # another server is what counts most
            lacking.insert(place, f"{wheel} needs {requirement.name}{requirement.specifier} ({there})")
    if lacking:
        more = f"; and {len(lacking) - SHOWN} more" if len(lacking) > SHOWN else ""
        blamed.provider.refuse(
            f"{_upper(blamed.provider)} lacks packages: {'; '.join(lacking[:SHOWN])}{more}. The server is {server}. Add the "
            f"wheels to {DIRECTORY}/packages in the image, or take a version of the provider for this release.")


def _check_server(new, server):
    """Holds what the server's own distributions need to the new versions. What was not met before is not looked at."""
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
                f"{requirement.name}{requirement.specifier}; the server has {server.version(name)}. Take the wheel out of the "
                "image, or bring a version that both can use.")
