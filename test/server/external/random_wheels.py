"""Installs an image after random changes, many times in one process.

    python random_wheels.py DIRECTORY-OF-THE-PROGRAM IMAGES ROUNDS
"""

import os
import random
import shutil
import sys
import tempfile

sys.path.insert(0, sys.argv[1])

import external_providers
from external_package import Provider, Refused

ENTRY = {"index": 0, "api": "inference", "id": "echo", "image": "example.com/echo:1", "path": "spec.externalProviders.inference[0]"}


def change(data, chance):
    """Returns the content with some bytes changed, inserted or removed."""
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        at = chance.randrange(len(data))
        kind = chance.randrange(4)
        if kind == 0:
            data[at] = chance.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            del data[at:at + chance.choice((1, 4, 64))]
        else:
            data[at:at] = data[chance.randrange(len(data)):][:chance.choice((1, 4, 64))]
        if not data:
            return b""
    return bytes(data)


def attempt(images, seed):
    """Installs an image with one file changed. Returns whether the installation succeeded."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as outer:
        volume = os.path.join(outer, "volume")
        shutil.copytree(images, os.path.join(volume, "images"))
        files = sorted(os.path.join(place, name) for place, _, names in os.walk(volume) for name in names)
        path = chance.choice(files)
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(change(data, chance))
        try:
            external_providers.install(volume, [Provider(ENTRY, os.path.join(volume, "images"))])
            return True
        except Refused as refused:
            if refused.provider is None:
                raise
            return False
        finally:
            if os.listdir(outer) != ["volume"]:
                raise SystemExit(f"seed {seed}: the installation wrote outside the volume")


def main():
    images, rounds = sys.argv[2], int(sys.argv[3])
    installed = 0
    for seed in range(rounds):
        try:
            installed += attempt(images, seed)
        except Exception as error:
            raise SystemExit(f"seed {seed}: {error!r}") from error
    print(f"{rounds} rounds, {installed} installed")


main()
