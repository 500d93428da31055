"""Prints the release data of the server that is installed in this environment."""

import contextlib
import sys
import warnings

from . import document, layout, package, standins


def main() -> None:
    """Describes the release; what its modules print while they are imported goes to standard error."""
    warnings.filterwarnings("ignore")
    with contextlib.redirect_stdout(sys.stderr):
        text = layout.dumps(document.describe(package.find()))
    for missing in standins.stood_in():
        print(f"release-data: stood in for the missing package {missing}", file=sys.stderr)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
