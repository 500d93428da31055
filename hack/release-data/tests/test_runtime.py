"""Tests the facts in the source of the command line."""

import pathlib
import unittest

from releasedata import distributions, runtime

OLD = 'default=int(os.getenv("LLAMA_STACK_PORT", 8321)),\nport = args.port or config.server.port\n'
NEW = 'default=None,\nport = args.port or os.getenv("OGX_PORT") or config.server.port\n'


class SourceTest(unittest.TestCase):
    def test_port_variable(self) -> None:
        self.assertEqual(runtime.config_variable(OLD, "PORT"), "LLAMA_STACK_PORT")
        self.assertEqual(runtime.config_variable(NEW, "PORT"), "OGX_PORT")
        with self.assertRaisesRegex(ValueError, "no variable that ends in PORT"):
            runtime.config_variable("", "PORT")

    def test_server_port_ignored(self) -> None:
        self.assertTrue(runtime.server_port_ignored(OLD))
        self.assertFalse(runtime.server_port_ignored(NEW))


class NameTest(unittest.TestCase):
    def test_names_of_shipped_configs(self) -> None:
        for path, want in (
            ("d/starter/config.yaml", "starter"),
            ("d/starter/run.yaml", "starter"),
            ("d/starter/run-with-postgres-store.yaml", "starter/run-with-postgres-store"),
        ):
            with self.subTest(path):
                self.assertEqual(distributions.name(pathlib.Path(path)), want)
