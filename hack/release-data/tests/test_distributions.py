"""Tests the rows of the configs that a release contains."""

import unittest

from releasedata import distributions


class ShortenTest(unittest.TestCase):
    def test_a_variant_has_its_own_sections(self) -> None:
        main = {"version": 2, "providers": {"a": 1}, "storage": {"b": True}}
        changed = main | {"storage": {"b": 1}}
        other = {"version": 2, "storage": {"b": 1}}
        rows = {
            name: {"variables": [name], "config": config}
            for name, config in {"s": main, "s/other": other, "s/variant": changed, "alone/variant": changed}.items()
        }
        want = rows | {"s/variant": {"like": "s", "variables": ["s/variant"], "config": {"storage": {"b": 1}}}}
        self.assertEqual(distributions.shorten(rows), want)
