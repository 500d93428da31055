"""Tests the import of modules if packages are missing."""

import pathlib
import sys
import tempfile
import unittest

from releasedata import standins

SOURCE = """
import package_that_nobody_has.client as client
from package_that_nobody_has.errors import Missing

class Config(client.Base):
    error = Missing
"""


class ImportTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        pathlib.Path(directory.name, "module_with_a_client.py").write_text(SOURCE)
        sys.path.insert(0, directory.name)
        self.addCleanup(sys.path.remove, directory.name)
        self.addCleanup(sys.modules.pop, "module_with_a_client", None)

    def test_a_missing_package_gets_a_stand_in(self) -> None:
        cls = standins.import_object("module_with_a_client.Config")
        self.assertEqual(cls.__name__, "Config")
        self.assertIn("package_that_nobody_has", standins.stood_in())

    def test_a_missing_package_of_the_server_is_an_error(self) -> None:
        with self.assertRaises(ModuleNotFoundError):
            standins.import_object("llama_stack_that_is_gone.x.Config", never=("llama_stack_that_is_gone",))

    def test_a_missing_name_is_an_error(self) -> None:
        with self.assertRaises(AttributeError):
            standins.import_object("module_with_a_client.Other")
