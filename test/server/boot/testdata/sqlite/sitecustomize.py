"""Replaces the sqlite3 module of a Python that cannot load extensions. The Python in images can load extensions."""

import os
import sys

sys.path.append(os.environ["PACKAGES_BEHIND"])

import pysqlite3  # noqa: E402, the package is in PACKAGES_BEHIND

sys.modules["sqlite3"] = pysqlite3
sys.modules["sqlite3.dbapi2"] = pysqlite3.dbapi2
