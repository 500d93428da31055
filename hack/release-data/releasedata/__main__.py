"""Prints the release data of the server that is installed in this environment."""

import contextlib
import sys
import warnings

from . import document, layout, package, standins


def main() -> None:
    """Describes the release. The output of its modules during their import goes to standard error."""
    warnings.filterwarnings("ignore")
    with contextlib.redirect_stdout(sys.stderr):
        text = layout.dumps(document.describe(package.find()))
    for missing in standins.stood_in():
        print(f"release-data: replaced the missing package {missing} with a stand-in", file=sys.stderr)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
