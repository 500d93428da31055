"""Installs external providers, before the server starts.

    python external_providers.py --config FILE --directory DIR --providers JSON

Init containers have copied each provider's image to DIR/images/INDEX. This program checks them, installs their wheels into
DIR/python-packages, and writes the server's configuration to DIR/config. It needs no network. It has no
secrets, so its messages contain none. If it fails, it exits with 1, and the container's termination message has the reason
as JSON.
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

SECONDS = 240  # until the program ends
MAX_MESSAGE = 900
PACKAGES, METADATA, CONFIG, MANIFEST, DONE = "python-packages", "metadata", "config", "installed-packages.txt", "installed.json"


class TimeLimit(BaseException):
    """The time limit is exceeded. This is not an Exception, so that libraries do not handle it."""


def option(name):
    """Returns the value of a command-line option. Unknown options are ignored, because a newer operator may set them."""
    values = dict(zip(sys.argv[1:], sys.argv[2:]))
    if name not in values:
        raise Refused(f"The option {name} is missing.")
    return values[name]


def servers():
    """Returns the names of the Python packages of the server and of its API."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "releases.json"), encoding="utf-8") as file:
        facts = json.load(file).values()
    names = list(dict.fromkeys(f["package"] for f in facts if "package" in f))
    return [name + suffix for name in names for suffix in ("", "-api")]


def install(directory, providers):
    """Checks all packages, and then installs them."""
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
            say(f"{path} of {wheel} ({wheel.provider}) is left out: another package has a file with this name")
    external_entry.check(providers, target, server.path)
    record(directory, providers, chosen, new)


def record(directory, providers, chosen, new):
    """Writes the list of installed packages and the metadata files, for troubleshooting."""
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
    """Installs the providers, unless an earlier run of the container has installed them."""
    os.umask(0o022)
    directory, config, entries = option("--directory"), option("--config"), json.loads(option("--providers"))
    images, away, done = (os.path.join(directory, name) for name in ("images", "images.old", DONE))
    providers = [Provider(entry, images) for entry in entries]
    shutil.rmtree(away, ignore_errors=True)
    if not all(os.path.lexists(os.path.join(provider.directory, FILE)) for provider in providers):
        if os.path.isfile(done):
            say("the providers are already installed")
            return
        if not os.path.isdir(images):
            raise Refused(f"There is no directory {images}: the earlier init containers have not copied any files.")
    for name in (DONE, MANIFEST):
        if os.path.lexists(os.path.join(directory, name)):
            os.remove(os.path.join(directory, name))
    for name in (PACKAGES, METADATA):
        shutil.rmtree(os.path.join(directory, name), ignore_errors=True)
    install(directory, providers)
    external_config.write(config, os.path.join(directory, CONFIG), providers)
    external_config.put(done, json.dumps([{"id": p.id, "image": p.image} for p in providers]).encode())
    with contextlib.suppress(OSError):  # atomic, so that no directory is removed only in part
        os.rename(images, away)
    # The kubelet owns the directories that it created for the images. They stay, and their content is removed.
    for place in (away, images):
        shutil.rmtree(place, ignore_errors=True)


def say(text):
    print("external providers: " + re.sub(r"[\x00-\x1f\x7f]", "?", text), file=sys.stderr, flush=True)


def explain(error):
    """Returns the provider that caused the failure, or None, and the message."""
    if isinstance(error, Refused):
        return error.provider, str(error)
    if isinstance(error, TimeLimit):
        return None, f"The installation took longer than {SECONDS} s. Make the images smaller, or give the node a faster disk."
    if isinstance(error, ModuleNotFoundError):
        return None, f"The server's image does not contain the Python library {error.name}."
    if isinstance(error, OSError) and error.errno:
        return None, f"The files cannot be installed: {os.strerror(error.errno)}: {error.filename or 'on the volume'}."
    return None, f"The installation failed: {type(error).__name__}: {str(error)[:300]}"


def tell(error):
    """Writes the container's termination message."""
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
        say(f"the termination message cannot be written: {os.strerror(problem.errno)}")


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
