"""Tests that the JSON is easy to read in a diff."""

import json
import unittest

from releasedata import layout


class LayoutTest(unittest.TestCase):
    def test_short_values_are_on_one_line(self) -> None:
        self.assertEqual(layout.dumps({"a": [1, "é", None], "b": {}}), '{"a": [1, "é", null], "b": {}}\n')

    def test_long_values_are_broken_up(self) -> None:
        value = {"first": {"name": "x" * 70, "list": ["y" * 40]}, "empty": []}
        want = f"""{{
 "first": {{
  "name": "{"x" * 70}",
  "list": ["{"y" * 40}"]
 }},
 "empty": []
}}
"""
        self.assertEqual(layout.dumps(value), want)

    def test_no_line_is_longer_than_the_limit(self) -> None:
        value = {f"key{i}": [{"name": "n" * i, "values": list(range(i))}] for i in range(60)}
        text = layout.dumps(value)
        self.assertEqual(json.loads(text), value)
        self.assertLessEqual(max(map(len, text.splitlines())), 120)
