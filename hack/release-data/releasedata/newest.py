"""Lists the releases in the package index that have no data here: newer lines, and newer patches of known lines."""

import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass

# The pattern matches the line with the releases in the output of pip. The line does not contain pre-releases.
_LISTED = re.compile(r"^Available versions: (.*)$", re.MULTILINE)
_RELEASE = re.compile(r"^(\d+)\.(\d+)\.(\d+)$")


@dataclass(frozen=True)
class Data:
    """Identifies the release from which a data file was extracted."""

    package: str
    line: str
    version: str


@dataclass(frozen=True)
class News:
    """Identifies a release without data."""

    package: str
    version: str
    known: str  # the release of the existing data of its line; empty for a new line

    def __str__(self) -> str:
        what = f"the data of its line is from {self.known}" if self.known else "a line without data"
        return f"{self.package} {self.version}: {what}; make release-data RELEASE={self.version}"


class IndexUnavailable(Exception):
    """Reports that the package index did not answer, or that its answer contains no releases."""


def numbers(version: str) -> tuple[int, ...]:
    """Returns a version as numbers, so that 0.10 is sorted after 0.9."""
    return tuple(map(int, version.split(".")))


def known(directory: pathlib.Path) -> list[Data]:
    """Returns the lines with data, ascending."""
    found = []
    for file in directory.glob("*.json"):
        if re.fullmatch(r"\d+\.\d+", file.stem):
            content = json.loads(file.read_text())
            found.append(Data(content["package"], content["line"], content["version"]))
    return sorted(found, key=lambda data: numbers(data.line))


def versions(listed: str) -> list[str]:
    """Returns the releases in the output of pip for a package, in the same order."""
    match = _LISTED.search(listed)
    return [version for version in match[1].split(", ") if _RELEASE.match(version)] if match else []


def news(data: Iterable[Data], package: str, index: Iterable[str]) -> list[News]:
    """Returns the newest release of each line of a package whose data is missing or older, ascending.

    A line with data from another package needs no data from this one. The first releases of a renamed package only
    reserve its name, and the data of these lines comes from the package with the old name.
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
    """Returns the releases of a package in the index."""
    command = [
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--retries", "1", "--timeout", "10"),
        *("index", "versions", "--ignore-requires-python", package),
    ]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    found = versions(answer.stdout)
    if answer.returncode != 0 or not found:
        first = (answer.stderr.strip().splitlines() or ["the index lists no release"])[0]
        raise IndexUnavailable(f"{package}: {first.partition('connection broken by ')[2] or first}")
    return found


def main(directory: str) -> int:
    """Returns 0 if the newest releases have data, 1 if some have none, and 2 if the index cannot be read."""
    data = known(pathlib.Path(directory))
    found: list[News] = []
    for package in dict.fromkeys(entry.package for entry in data):
        try:
            index = ask(package)
        except IndexUnavailable as unavailable:
            print(
                f"release-data: the package index cannot be read ({unavailable}). "
                "Check the network, or set PIP_INDEX_URL to your index and PIP_CERT to its CA file.",
                file=sys.stderr,
            )
            return 2
        print(f"{package}: the newest release is {max(index, key=numbers)}")
        found += news(data, package, index)
    if not found:
        print(f"every line has the data of its newest release; the last line is {data[-1].line}")
        return 0
    for item in found:
        print(item)
    print('for the next steps, see "Add a server release" in CONTRIBUTING.md')
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
