"""Tests that Pydantic classes are described as rows."""

import enum
import os
import unittest
import warnings
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from releasedata.classes import Catalog, plain


class Mode(enum.Enum):
    FAST = "fast"


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    verify: bool = True


class Outer(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    must: str
    secret: SecretStr | None = Field(default=None, alias="api_token")
    cut_off: str | None = Field(default=None, exclude=True)
    port: int = Field(default=1, ge=0, le=9)
    region: str = Field(default_factory=lambda: os.getenv("REGION", "here"))
    mode: Mode = Mode.FAST
    inner: Inner = Field(default_factory=Inner)
    old: bool = Field(default=False, deprecated=True)
    more: "list[Outer]" = []


class CatalogTest(unittest.TestCase):
    def setUp(self) -> None:
        warnings.simplefilter("ignore")
        self.catalog = Catalog()

    def test_keys(self) -> None:
        self.assertEqual(self.catalog.name(Outer), "Outer")
        keys = {key["name"]: key for key in self.catalog.rows["Outer"]["keys"]}
        want: dict[str, dict[str, Any]] = {
            "must": {"type": "str", "required": True},
            "api_token": {"type": "SecretStr | null", "aliases": ["secret"], "default": None, "secret": True},
            "cut_off": {"type": "str | null", "default": None, "internal": True},
            "port": {"type": "int", "default": 1, "limits": {"ge": 0, "le": 9}},
            "region": {"type": "str", "default": "here", "default_variables": ["REGION"]},
            "mode": {"type": "enum[fast]", "default": "fast"},
            "inner": {"type": "Inner", "default": {"verify": True}},
            "old": {"type": "bool", "default": False, "deprecated": True},
            "more": {"type": "list[Outer]", "default": []},
        }
        self.assertEqual(list(keys), list(want))
        for name, row in want.items():
            with self.subTest(name):
                self.assertEqual(keys[name], {"name": name, **row})
        self.assertEqual(self.catalog.rows["Inner"]["extra"], "forbid")

    def test_two_fields_of_one_key(self) -> None:
        class Both(BaseModel):
            credential: SecretStr | None = Field(default=None, alias="api_key")
            api_key: str = "x"

        self.catalog.name(Both)
        want = [{"name": "api_key", "type": "str", "default": "x", "secret": True}]
        self.assertEqual(self.catalog.rows["Both"]["keys"], want)

    def test_classes_of_one_name(self) -> None:
        first = type("Config", (BaseModel,), {"__module__": "a.chroma.config", "__annotations__": {"url": str}})
        second = type("Config", (BaseModel,), {"__module__": "b.chroma.config", "__annotations__": {"path": str}})
        third = type("Config", (BaseModel,), {"__module__": "c.chroma.config", "__annotations__": {"url": str}})
        fourth = type("Config", (BaseModel,), {"__module__": "d.chroma.config", "__annotations__": {"size": int}})
        names = [self.catalog.name(cls) for cls in (first, second, third, fourth, second)]
        self.assertEqual(names, ["Config", "chroma.Config", "Config", "d.chroma.Config", "chroma.Config"])


class PlainTest(unittest.TestCase):
    def test_values(self) -> None:
        home = os.path.expanduser("~")
        for value, want in (
            (SecretStr("x"), "x"),
            (Inner(), {"verify": True}),
            (Mode.FAST, "fast"),
            ({"a": (1, 2.5)}, {"a": [1, 2.5]}),
            (f"{home}/.llama", "~/.llama"),
            (None, None),
            (True, True),
        ):
            with self.subTest(want):
                self.assertEqual(plain(value), want)
