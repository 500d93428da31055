"""Describes the server's pydantic classes, each once, under a unique name."""

import enum
import json
import os
from typing import Any

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from . import environment, secrets, typetext

type Row = dict[str, Any]

_LIMITS = ("ge", "gt", "le", "lt", "min_length", "max_length", "pattern")


class Catalog:
    """Describes classes. Two classes with the same name get different names, unless their rows are equal."""

    def __init__(self) -> None:
        self._names: dict[type, str] = {}
        self.rows: dict[str, Row] = {}

    def name(self, cls: type) -> str:
        """Returns the name of a class in type expressions. The first call for a class also describes it."""
        if not (isinstance(cls, type) and issubclass(cls, BaseModel)):
            return cls.__name__
        if cls in self._names:
            return self._names[cls]
        name = cls.__name__
        if name in self.rows:
            name = self._other_name(cls)
        if cls not in self._names:
            self._names[cls] = name
            self.rows[name] = {}  # a class may refer to itself
            self.rows[name] = self._describe(cls)
        return name

    def _other_name(self, cls: type[BaseModel]) -> str:
        """Returns a name for a class whose name is taken: the same name if the rows are equal, or a longer one."""
        taken = cls.__name__
        self._names[cls] = taken
        if self._describe(cls) == self.rows[taken]:
            return taken
        del self._names[cls]
        modules = [part for part in cls.__module__.split(".") if part != "config"]
        for depth in range(1, len(modules) + 1):
            name = ".".join([*modules[-depth:], taken])
            if name not in self.rows:
                return name
        raise ValueError(f"no free name for {cls!r}")

    def _describe(self, cls: type[BaseModel]) -> Row:
        extra = (cls.model_config or {}).get("extra") or "ignore"
        rows = [self._key(cls, name, field) for name, field in cls.model_fields.items()]
        # Two fields may read one key: an inherited field by its alias, and a field of the class by its name. The field
        # of the class comes last, and is more specific.
        return {"extra": extra, "keys": list({row["name"]: row for row in rows}.values())}

    def _key(self, cls: type[BaseModel], name: str, field: FieldInfo) -> Row:
        names = _names(cls, name, field)
        kind = typetext.text(field.annotation, self.name)
        row: Row = {"name": names[0], "type": kind}
        if names[1:]:
            row["aliases"] = names[1:]
        if field.is_required():
            row["required"] = True
        else:
            row |= _default(field)
        if secrets.is_secret(names[0], kind):
            row["secret"] = True
        if field.deprecated:
            row["deprecated"] = True
        # The class inherits the field and excludes it, so the provider has no such setting.
        if field.exclude and names == [name]:
            row["internal"] = True
        if limits := _limits(field):
            row["limits"] = limits
        return row


def _names(cls: type[BaseModel], name: str, field: FieldInfo) -> list[str]:
    """Returns the keys that set a field, the preferred one first. A field with an alias may also allow its name."""
    alias = field.validation_alias or field.alias
    if alias is None:
        return [name]
    names = [str(choice) for choice in getattr(alias, "choices", [alias])]
    if cls.model_config.get("populate_by_name") or cls.model_config.get("validate_by_name"):
        names.append(name)
    return list(dict.fromkeys(names))


def _default(field: FieldInfo) -> Row:
    if field.default_factory is None:
        return {"default": plain(field.default)} if field.default is not PydanticUndefined else {}
    try:
        value, asked = environment.unset(field.default_factory)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 - the default of a factory that needs validated data is unknown
        return {"default": None}
    row: Row = {"default": plain(value)}
    if asked:
        row["default_variables"] = asked
    return row


def _limits(field: FieldInfo) -> Row:
    limits: Row = {}
    for item in field.metadata:
        for limit in _LIMITS:
            value = getattr(item, limit, None)
            if value is not None:
                limits[limit] = plain(value)
    return limits


def plain(value: Any) -> Any:
    """Returns a value as JSON. The home directory becomes `~`."""
    match value:
        case SecretStr():
            return plain(value.get_secret_value())
        case BaseModel():
            return plain(json.loads(value.model_dump_json()))
        case enum.Enum():
            return plain(value.value)
        case dict():
            return {str(plain(key)): plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
        case None | bool() | int() | float():
            return value
        case _:
            return str(value).replace(os.path.expanduser("~"), "~")
