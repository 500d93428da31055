"""Writes a Python type annotation as a type expression of the release data.

    dict[str, list[Provider]] | null
    literal[TLSv1.2, TLSv1.3] | null

`name_of` returns the names of classes in the expression, so that two classes with the same name can be distinguished.
"""

import enum
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

_SEPARATORS = set(",[]|") | set("\n")


def text(annotation: Any, name_of: Callable[[type], str] = lambda cls: cls.__name__) -> str:
    """Returns the type expression for an annotation."""
    if annotation is None or annotation is type(None):
        return "null"
    if annotation is Any:
        return "Any"
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return text(typing.get_args(annotation)[0], name_of)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(text(member, name_of) for member in typing.get_args(annotation))
    if origin is typing.Literal:
        return _choices("literal", typing.get_args(annotation))
    if origin is not None:
        return _generic(annotation, origin, name_of)
    if inspect.isclass(annotation):
        if issubclass(annotation, enum.Enum):
            return _choices("enum", list(annotation))
        return name_of(annotation)
    return str(annotation)


def _generic(annotation: Any, origin: Any, name_of: Callable[[type], str]) -> str:
    name = getattr(origin, "__name__", str(origin))
    args = [text(arg, name_of) for arg in typing.get_args(annotation) if arg is not Ellipsis]
    return f"{name}[{', '.join(args)}]" if args else name


def _choices(word: str, members: typing.Iterable[Any]) -> str:
    values = [str(getattr(member, "value", member)) for member in members]
    for value in values:
        if _SEPARATORS & set(value) or value != value.strip():
            raise ValueError(f"the {word} value {value!r} cannot be written in a type expression")
    return f"{word}[{', '.join(values)}]"


def classes(annotation: Any, base: type) -> list[type]:
    """Returns the subclasses of `base` in an annotation, in order."""
    if typing.get_origin(annotation) is typing.Literal:
        return []
    args = typing.get_args(annotation)
    if args:
        return [cls for arg in args if arg is not Ellipsis for cls in classes(arg, base)]
    if inspect.isclass(annotation) and issubclass(annotation, base):
        return [annotation]
    return []
