"""Tests that the environment variables of code and of configs are found."""

import os
import unittest

from releasedata import environment


class UnsetTest(unittest.TestCase):
    def test_only_path_and_home_are_set(self) -> None:
        os.environ["SOME_API_KEY"] = "x"
        self.addCleanup(os.environ.pop, "SOME_API_KEY")
        before = os.environ

        def ask() -> list[str | None]:
            return [os.getenv("SOME_API_KEY", "d"), os.environ.get("HOME"), os.environ.get("OTHER")]

        values, asked = environment.unset(ask)
        self.assertEqual(values, ["d", os.path.expanduser("~"), None])
        self.assertEqual(asked, ["SOME_API_KEY", "OTHER"])
        self.assertIs(os.environ, before)

    def test_the_environment_is_restored_after_an_error(self) -> None:
        before = os.environ
        with self.assertRaises(KeyError):
            environment.unset(lambda: os.environ["NOT_SET"])
        self.assertIs(os.environ, before)


class VariablesTest(unittest.TestCase):
    def test_forms(self) -> None:
        text = """
        id: ${env.VLLM_URL:+vllm}
        url: ${env.VLLM_URL:=}
        path: ${env.DIR:=~/.llama}/x ${env.DIR:=/tmp}
        model: ${env.MODEL}
        not: ${env.lower} $MODEL ${MODEL}
        """
        want = [
            {"name": "DIR", "defaults": ["/tmp", "~/.llama"]},
            {"name": "MODEL", "required": True},
            {"name": "VLLM_URL", "defaults": [""], "enables": ["vllm"]},
        ]
        self.assertEqual(environment.variables(text), want)
