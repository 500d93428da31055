"""Installs external providers, before the server starts.

    python external_providers.py --config FILE --directory DIR --providers JSON

Init containers have copied each provider's image to DIR/images/INDEX. This program checks them, installs their wheels into
DIR/python-packages, and writes the server's configuration to DIR/config. It needs no network. It has no secrets, so what
it says can hold none. When it fails, it exits with 1 and tells why in the container's termination message, as JSON.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import sys

import external_config
import external_entry
import external_resolve
from external_package import FILE, Provider, Refused

SECONDS = 240  # until the program ends itself
MAX_MESSAGE = 900
PACKAGES, METADATA, CONFIG, MANIFEST, DONE = "python-packages", "metadata", "config", "installed-packages.txt", "installed.json"


class TimeLimit(BaseException):
    """The time is over. No Exception, so that no library handles it."""


def option(name):
    """The value of an option of the command line. Others are passed over: an operator may know more of them."""
    values = dict(zip(sys.argv[1:], sys.argv[2:]))
    if name not in values:
        raise Refused(f"The option {name} is missing.")
    return values[name]


def servers():
    """The names of the packages that a server comes in, with those of its API."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "releases.json"), encoding="utf-8") as file:
        facts = json.load(file).values()
    names = list(dict.fromkeys(f["package"] for f in facts if "package" in f))
    return [name + suffix for name in names for suffix in ("", "-api")]


def install(directory, providers):
    """Checks everything, then installs it."""
    for provider in providers:
        provider.read()
    packaging = external_resolve.load_packaging()
    own = {os.path.realpath(place) for place in (os.path.join(directory, PACKAGES), os.path.dirname(os.path.abspath(__file__)))}
    server = external_resolve.Server(packaging, servers(), own)
    chosen = [wheel for provider in providers for wheel in external_resolve.choose(provider, packaging)]
    new = external_resolve.resolve(chosen, server)
    target = os.path.join(directory, PACKAGES)
    os.makedirs(target)
    for wheel in new:
        for path in wheel.extract(target):
            say(f"{path} of {wheel} ({wheel.provider}) is left out: another package has a file of that name")
    external_entry.check(providers, target, server.path)
    record(directory, providers, chosen, new)


def record(directory, providers, chosen, new):
    """Writes down what was installed, for whoever looks for a fault."""
    lines = []
    for wheel in chosen:
        note = ""
        if wheel not in new:
            note = " (of an earlier provider)" if any(wheel.name == other.name for other in new) else " (the server has it)"
        lines.append(f"{wheel.provider.id} {wheel}{note}\n")
        say(lines[-1].rstrip())
    external_config.put(os.path.join(directory, MANIFEST), "".join(lines).encode())
    for provider in providers:
        place = os.path.join(directory, METADATA, provider.id)
        os.makedirs(place)
        shutil.copyfile(provider.file(FILE), os.path.join(place, FILE))


def run():
    """Does the work, unless it has been done: a container may run twice."""
    os.umask(0o022)
    directory, config, entries = option("--directory"), option("--config"), json.loads(option("--providers"))
    images, away, done = (os.path.join(directory, name) for name in ("images", "images.old", DONE))
    providers = [Provider(entry, images) for entry in entries]
    shutil.rmtree(away, ignore_errors=True)
    if not all(os.path.lexists(os.path.join(provider.directory, FILE)) for provider in providers):
        if os.path.isfile(done):
            say("the providers are installed already")
            return
        if not os.path.isdir(images):
            raise Refused(f"There is no directory {images}: the init containers before this one have copied nothing.")
    for name in (DONE, MANIFEST):
        if os.path.lexists(os.path.join(directory, name)):
            os.remove(os.path.join(directory, name))
    for name in (PACKAGES, METADATA):
        shutil.rmtree(os.path.join(directory, name), ignore_errors=True)
    install(directory, providers)
    external_config.write(config, os.path.join(directory, CONFIG), providers)
    external_config.put(done, json.dumps([{"id": p.id, "image": p.image} for p in providers]).encode())
    with contextlib.suppress(OSError):  # at once, so that nothing is left half removed
        os.rename(images, away)
    # The kubelet owns the directories that it made for each image. They stay, and what is in them goes.
    for place in (away, images):
        shutil.rmtree(place, ignore_errors=True)


def say(text):
    print("external providers: " + re.sub(r"[\x00-\x1f\x7f]", "?", text), file=sys.stderr, flush=True)


def explain(error):
    """The provider to blame, or None, and the message."""
    if isinstance(error, Refused):
        return error.provider, str(error)
    if isinstance(error, TimeLimit):
        return None, f"The installation took longer than {SECONDS} s. Make the images smaller, or give the node a faster disk."
    if isinstance(error, ModuleNotFoundError):
        return None, f"The server's image lacks the Python library {error.name}."
    if isinstance(error, OSError) and error.errno:
        return None, f"The files cannot be installed: {os.strerror(error.errno)}: {error.filename or 'on the volume'}."
    return None, f"The installation failed: {type(error).__name__}: {str(error)[:300]}"


def tell(error):
    """Leaves the container's termination message."""
    provider, text = explain(error)
    text = re.sub(r"[\x00-\x1f\x7f]", "?", text)
    if len(text) > MAX_MESSAGE:
        text = text[:MAX_MESSAGE - 1] + "…"
    message = {"provider": provider.id, "image": provider.image} if provider else {}
    say(text)
    try:
        with open(os.environ.get("TERMINATION_LOG") or "/dev/termination-log", "w", encoding="utf-8") as file:
            file.write(json.dumps({**message, "message": text}) + "\n")
    except OSError as problem:
        say(f"no termination message: {os.strerror(problem.errno)}")


def main():
    def late(*_):
        raise TimeLimit

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        run()
    except BaseException as error:
        signal.alarm(0)
        tell(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
