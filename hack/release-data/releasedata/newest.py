"""Says which releases the package index has that the data does not know: newer lines, and newer patches of known lines."""

import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass

# What pip prints of a package; pre-releases are not among them.
_LISTED = re.compile(r"^Available versions: (.*)$", re.MULTILINE)
_RELEASE = re.compile(r"^(\d+)\.(\d+)\.(\d+)$")


@dataclass(frozen=True)
class Data:
    """What a data file was extracted from."""

    package: str
    line: str
    version: str


@dataclass(frozen=True)
class News:
    """A release without data."""

    package: str
    version: str
    known: str  # the release that its line's data is from; empty for a new line

    def __str__(self) -> str:
        what = f"the data of its line is from {self.known}" if self.known else "a line without data"
        return f"{self.package} {self.version}: {what}; make release-data RELEASE={self.version}"


class IndexUnavailable(Exception):
    """The package index did not answer, or not with releases."""


def numbers(version: str) -> tuple[int, ...]:
    """A version as it is ordered: 0.10 behind 0.9."""
    return tuple(map(int, version.split(".")))


def known(directory: pathlib.Path) -> list[Data]:
    """The lines that there is data for, ascending."""
    found = []
    for file in directory.glob("*.json"):
        if re.fullmatch(r"\d+\.\d+", file.stem):
            content = json.loads(file.read_text())
            found.append(Data(content["package"], content["line"], content["version"]))
    return sorted(found, key=lambda data: numbers(data.line))


def versions(listed: str) -> list[str]:
    """The releases in what pip prints of a package, in its order."""
    match = _LISTED.search(listed)
    return [version for version in match[1].split(", ") if _RELEASE.match(version)] if match else []


def news(data: Iterable[Data], package: str, index: Iterable[str]) -> list[News]:
    """The newest release of each line of a package that has no data, or older data, ascending.

    A line of another package is known by that one: a renamed package goes on where the old one ends, and its first releases
    only hold the name.
    """
    lines = {entry.line: entry for entry in data}
    first = min(numbers(entry.line) for entry in lines.values() if entry.package == package)
    newest: dict[str, str] = {}
    for version in sorted(index, key=numbers):
        newest[version.rsplit(".", 1)[0]] = version
    found = []
    for line, version in newest.items():
        entry = lines.get(line)
        if entry is None and numbers(line) > first:
            found.append(News(package, version, ""))
        elif entry is not None and entry.package == package and numbers(version) > numbers(entry.version):
            found.append(News(package, version, entry.version))
    return found


def ask(package: str) -> list[str]:
    """The releases of a package that the index has."""
    command = [
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--retries", "1", "--timeout", "10"),
        *("index", "versions", "--ignore-requires-python", package),
    ]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    found = versions(answer.stdout)
    if answer.returncode != 0 or not found:
        first = (answer.stderr.strip().splitlines() or ["it lists no release"])[0]
        raise IndexUnavailable(f"{package}: {first.partition('connection broken by ')[2] or first}")
    return found


def main(directory: str) -> int:
    """0: the data knows the newest releases. 1: it does not. 2: the index cannot be asked."""
    data = known(pathlib.Path(directory))
    found: list[News] = []
    for package in dict.fromkeys(entry.package for entry in data):
        try:
            index = ask(package)
        except IndexUnavailable as unavailable:
            print(
                f"release-data: the package index cannot be asked, so nothing is known of newer releases ({unavailable}). "
                "Try again with a network, or name your index in PIP_INDEX_URL and its CA in PIP_CERT.",
                file=sys.stderr,
            )
            return 2
        print(f"{package}: the newest release is {max(index, key=numbers)}")
        found += news(data, package, index)
    if not found:
        print(f"the data knows the newest release of each of its lines, the last of which is {data[-1].line}")
        return 0
    for item in found:
        print(item)
    print('then go on as CONTRIBUTING.md says under "Add a server release"')
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
