"""Adds packages at the end of the search path. The packages of the environment have priority over these packages."""

import os
import sys

sys.path.append(os.environ["PACKAGES_BEHIND"])
