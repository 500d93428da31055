"""Puts an SQLite that loads extensions in the place of that of a Python that was built without, as images have one."""

import os
import sys

sys.path.append(os.environ["PACKAGES_BEHIND"])

import pysqlite3  # noqa: E402, it lies behind

sys.modules["sqlite3"] = pysqlite3
sys.modules["sqlite3.dbapi2"] = pysqlite3.dbapi2
