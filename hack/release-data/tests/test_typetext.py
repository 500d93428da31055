"""Tests that annotations are written as type expressions."""

import enum
import typing
import unittest
from typing import Annotated, Any, Literal, Optional

from releasedata import typetext


class Kind(enum.Enum):
    LLM = "llm"
    RERANK = "rerank"


class Base: ...


class Config(Base): ...


class TextTest(unittest.TestCase):
    def test_expressions(self) -> None:
        for annotation, want in (
            (str, "str"),
            (None, "null"),
            (type(None), "null"),
            (Any, "Any"),
            (str | None, "str | null"),
            (Optional[int], "int | null"),  # noqa: UP045 - the test uses the older spelling
            (typing.Union[bool, str, None], "bool | str | null"),  # noqa: UP007
            (list[str], "list[str]"),
            (list, "list"),
            (dict[str, list[Config]], "dict[str, list[Config]]"),
            (tuple[int, ...], "tuple[int]"),
            (Literal["a", "b"], "literal[a, b]"),
            (Literal["TLSv1.2", "TLSv1.3"] | None, "literal[TLSv1.2, TLSv1.3] | null"),
            (Kind, "enum[llm, rerank]"),
            (list[Kind], "list[enum[llm, rerank]]"),
            (Literal[Kind.LLM], "literal[llm]"),
            (Annotated[int, "a remark"], "int"),
            (Annotated[int | None, "a remark"], "int | null"),
        ):
            with self.subTest(want):
                self.assertEqual(typetext.text(annotation), want)

    def test_names_come_from_the_caller(self) -> None:
        self.assertEqual(typetext.text(list[Config] | None, lambda cls: f"x.{cls.__name__}"), "list[x.Config] | null")

    def test_a_value_that_cannot_be_written(self) -> None:
        for value in ("a,b", "a]", "a|b", " a", "a\nb"):
            with self.subTest(value), self.assertRaisesRegex(ValueError, "cannot be written"):
                typetext.text(Literal[value])  # type: ignore[valid-type]


class ClassesTest(unittest.TestCase):
    def test_finds_subclasses_in_order(self) -> None:
        class Other(Base): ...

        annotation = dict[str, list[Config]] | Annotated[Other, "x"] | str | tuple[Config, ...] | None
        self.assertEqual(typetext.classes(annotation, Base), [Config, Other, Config])

    def test_literal_values_are_not_classes(self) -> None:
        self.assertEqual(typetext.classes(Literal["a"] | int, Base), [])
