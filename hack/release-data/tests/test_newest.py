"""Tests which releases in the package index are reported as releases without data."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest
from unittest import mock

from releasedata import newest

OLD = newest.Data("llama-stack", "0.7", "0.7.3")
NEW = newest.Data("ogx", "0.8", "0.8.0")
LAST = newest.Data("ogx", "1.5", "1.5.0")
DATA = [newest.Data("llama-stack", "0.2", "0.2.24"), OLD, NEW, LAST]


class NewestTest(unittest.TestCase):
    def test_releases_are_read_from_the_output_of_pip(self) -> None:
        listed = "ogx (1.5.0)\nAvailable versions: 1.5.0, 1.4.1, 0.2.10.1, 0.1.0\n  INSTALLED: 1.4.1\n"
        self.assertEqual(newest.versions(listed), ["1.5.0", "1.4.1", "0.1.0"])
        self.assertEqual(newest.versions("ERROR: No matching distribution found for ogx\n"), [])

    def test_releases_with_data_are_not_listed(self) -> None:
        self.assertEqual(newest.news(DATA, "ogx", ["1.5.0", "0.8.0"]), [])
        self.assertEqual(newest.news(DATA, "llama-stack", ["0.7.3", "0.7.0", "0.2.24"]), [])

    def test_a_new_line_is_listed_with_its_newest_release(self) -> None:
        found = newest.news(DATA, "ogx", ["1.9.1", "1.10.0", "1.9.0", "1.5.0"])
        self.assertEqual(found, [newest.News("ogx", "1.9.1", ""), newest.News("ogx", "1.10.0", "")])
        self.assertEqual(str(found[0]), "ogx 1.9.1: a line without data; make release-data RELEASE=1.9.1")

    def test_a_newer_patch_is_listed(self) -> None:
        found = newest.news(DATA, "llama-stack", ["0.7.10", "0.7.3"])
        self.assertEqual(found, [newest.News("llama-stack", "0.7.10", "0.7.3")])
        self.assertEqual(str(found[0]), "llama-stack 0.7.10: the data of its line is from 0.7.3; make release-data RELEASE=0.7.10")

    def test_releases_that_only_reserve_a_name_are_not_listed(self) -> None:
        self.assertEqual(newest.news(DATA, "ogx", ["0.1.0", "0.7.1", "0.7.9"]), [])
        self.assertEqual(newest.news(DATA, "llama-stack", ["0.8.1", "0.1.9", "0.0.63"]), [])


class MainTest(unittest.TestCase):
    def answers(self, index: dict[str, list[str]]) -> tuple[int, str, str]:
        """Returns the exit code and the output for an index that has these releases."""

        def ask(package: str) -> list[str]:
            if package not in index:
                raise newest.IndexUnavailable(f"{package}: connection refused")
            return index[package]

        out, err = io.StringIO(), io.StringIO()
        with tempfile.TemporaryDirectory() as directory:
            for data in DATA:
                content = {"package": data.package, "line": data.line, "version": data.version}
                pathlib.Path(directory, f"{data.line}.json").write_text(json.dumps(content))
            pathlib.Path(directory, "0.2.remote-vllm.json").write_text("{}")
            with mock.patch.object(newest, "ask", ask), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = newest.main(directory)
        return code, out.getvalue(), err.getvalue()

    def test_nothing_new(self) -> None:
        code, out, err = self.answers({"llama-stack": ["0.7.3"], "ogx": ["0.8.0", "1.5.0"]})
        self.assertEqual((code, err), (0, ""))
        self.assertIn("ogx: the newest release is 1.5.0\n", out)
        self.assertIn("the last line is 1.5\n", out)

    def test_the_output_contains_the_commands(self) -> None:
        code, out, _ = self.answers({"llama-stack": ["0.7.4"], "ogx": ["1.5.0", "1.10.0", "1.6.0"]})
        self.assertEqual(code, 1)
        self.assertIn("ogx: the newest release is 1.10.0\n", out)
        for release in ("0.7.4", "1.6.0", "1.10.0"):
            self.assertIn(f"make release-data RELEASE={release}\n", out)

    def test_offline(self) -> None:
        code, out, err = self.answers({"llama-stack": ["0.7.3"]})
        self.assertEqual(code, 2)
        self.assertNotIn("every line has the data", out)
        self.assertIn("the package index cannot be read", err)
        self.assertIn("ogx: connection refused", err)
