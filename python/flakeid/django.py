"""IDs in Django's models: fields with defaults from a generator, also for DEFAULT_AUTO_FIELD.

>>> class Order(models.Model):
...     id = FlakeIdField(primary_key=True, generator="shop.ids.generator")
>>> Order.objects.filter(id__created_from=start, id__created_before=end)

Fields take the import path of a generator, not the generator itself, because migrations contain
the options of fields, and so that only processes that generate IDs lease a node.
"""

from datetime import datetime
from functools import cache
from typing import Any, Protocol, SupportsIndex
from uuid import UUID

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.lookups import GreaterThanOrEqual, LessThan
from django.utils.module_loading import import_string

from ._flakeid import Layout, from_decimal, from_uuid, to_decimal, to_uuid
from ._frameworks import layout_of, signed
from .errors import InvalidIdError

__all__ = ["FlakeIdAutoField", "FlakeIdField", "FlakeIdUuidField"]

_SETTING = "FLAKEID_GENERATOR"


class _Generator(Protocol):
    def next_id(self) -> int: ...


class _Field(models.Field):
    """The common base class of all fields."""

    def __init__(
        self,
        *args: Any,
        generator: str | None = None,
        layout: Layout | str = "twitter",
        **kwargs: Any,
    ) -> None:
        self.generator = generator
        self.layout = layout_of(layout)
        self._makes_ids = "default" not in kwargs and (
            generator is not None or bool(kwargs.get("primary_key"))
        )
        if self._makes_ids:
            kwargs["default"] = self.next_id
            kwargs.setdefault("editable", False)
        super().__init__(*args, **kwargs)

    def next_id(self) -> int:
        """Return the next ID of the field's generator.

        Raises:
            ImproperlyConfigured: neither the field nor the settings name a generator.
        """
        path = self._named()
        if path is None:
            raise ImproperlyConfigured(_unnamed(self))
        return _imported(path).next_id()

    def _named(self) -> str | None:
        return self.generator or getattr(settings, _SETTING, None)

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        """Return the field as a migration contains it, with the import path of the generator."""
        name, path, args, kwargs = super().deconstruct()
        if self._makes_ids:
            del kwargs["default"]
            kwargs.pop("editable", None)
            if self.editable:
                kwargs["editable"] = True
        if self.generator is not None:
            kwargs["generator"] = self.generator
        if self.layout != layout_of(None):
            kwargs["layout"] = self.layout.preset_name or self.layout.descriptor
        return name, path, args, kwargs

    def check(self, **kwargs: Any) -> list[CheckMessage]:
        """Run Django's checks, and check that a generator is configured."""
        found = super().check(**kwargs)
        if self._makes_ids and self._named() is None:
            found.append(Error(_unnamed(self), obj=self, id="flakeid.E001"))
        return found

    def _checked(self, id: int) -> int:
        """Return the ID unchanged if the column can hold it."""
        return signed(id)

    def get_internal_type(self) -> str:
        """Return a type that is neither serial nor identity: the program generates the IDs."""
        return "BigIntegerField"

    def get_db_prep_save(self, value: Any, connection: BaseDatabaseWrapper) -> Any:
        """Return the ID as it is stored.

        Raises:
            InvalidIdError: the ID is negative, or does not fit a signed column of 64 bits.
            TypeError: the value is a float, which may have been rounded, or a bool.
        """
        if value is not None and not hasattr(value, "as_sql"):
            # `to_python` would convert floats and bools to ints.
            is_wrong = isinstance(value, float | bool)
            value = self._checked(value if is_wrong else self.to_python(value))
        return super().get_db_prep_save(value, connection)


class FlakeIdField(_Field, models.BigIntegerField):
    """A column of IDs: `bigint`, and `int` in Python.

    Args:
        args: as for `models.BigIntegerField`.
        generator: the import path of the generator for the column's default, such as
            "shop.ids.generator". A primary key uses the setting FLAKEID_GENERATOR by default.
        layout: the layout of the IDs, which `created_from` and `created_before` use.
        kwargs: as for `models.BigIntegerField`.
    """


class FlakeIdAutoField(_Field, models.BigAutoField):
    """The primary key of models that do not define one, if DEFAULT_AUTO_FIELD is this class.

    The setting FLAKEID_GENERATOR is the generator's import path, such as "shop.ids.generator".
    """

    # The program already has the ID, so an INSERT need not return it.
    db_returning = False


class FlakeIdUuidField(_Field, models.Field):
    """A column of IDs as UUIDs of version 8: `uuid` in PostgreSQL and MariaDB, and `int` in Python.

    Other databases store the UUID as `char(32)`. A UUID that `flakeid.to_uuid` did not return
    raises InvalidIdError when a row is read.

    Args:
        args: as for `models.Field`.
        generator: as for `FlakeIdField`.
        layout: as for `FlakeIdField`.
        kwargs: as for `models.Field`.
    """

    description = "A 64-bit ID as a UUID of version 8"
    empty_strings_allowed = False

    def _checked(self, id: int) -> int:
        to_decimal(id)  # raises an error for values that are not IDs
        return id

    def get_internal_type(self) -> str:
        """Return the type whose columns hold UUIDs."""
        return "UUIDField"

    def to_python(self, value: Any) -> int | None:
        """Return the ID of an ID, its digits, a UUID, or the string of a UUID.

        Raises:
            ValidationError: the value is anything else.
        """
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        try:
            if isinstance(value, str) and value.isdecimal():
                return from_decimal(value)
            return from_uuid(value)
        except (InvalidIdError, TypeError) as error:
            raise ValidationError(str(error), code="invalid", params={"value": value}) from error

    def get_prep_value(self, value: Any) -> int | None:
        """Return the ID of a value in a query."""
        return self.to_python(super().get_prep_value(value))

    def get_db_prep_value(
        self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> Any:
        """Return the UUID in the form that the database's driver accepts."""
        if not prepared:
            value = self.get_prep_value(value)
        if value is None or hasattr(value, "as_sql"):
            return value
        uuid = to_uuid(value)
        return uuid if connection.features.has_native_uuid_field else uuid.hex

    def from_db_value(
        self,
        value: UUID | None,
        expression: Any,  # noqa: ARG002
        connection: BaseDatabaseWrapper,  # noqa: ARG002
    ) -> int | None:
        """Return the ID that a UUID of the column contains."""
        return None if value is None else from_uuid(value)


class CreatedFrom(GreaterThanOrEqual):
    """`id__created_from`: created at or after an aware datetime or Unix milliseconds."""

    def get_prep_lookup(self) -> int:
        """Return the smallest ID in the tick that contains the instant."""
        return _bound(self)


class CreatedBefore(LessThan):
    """`id__created_before`: created before an aware datetime or Unix milliseconds."""

    def get_prep_lookup(self) -> int:
        """Return the smallest ID in the instant's tick; the instant is rounded down."""
        return _bound(self)


def _bound(lookup: models.Lookup) -> int:
    when: datetime | SupportsIndex = lookup.rhs
    field = lookup.lhs.output_field
    return field._checked(field.layout.lower_bound(when))


# The new names are registered here, because the classes must keep the `lookup_name` by which
# Django finds the operators of a database.
FlakeIdField.register_lookup(CreatedFrom, "created_from")
FlakeIdField.register_lookup(CreatedBefore, "created_before")
FlakeIdAutoField.register_lookup(CreatedFrom, "created_from")
FlakeIdAutoField.register_lookup(CreatedBefore, "created_before")
FlakeIdUuidField.register_lookup(CreatedFrom, "created_from")
FlakeIdUuidField.register_lookup(CreatedBefore, "created_before")


@cache
def _imported(path: str) -> _Generator:
    return import_string(path)


def _unnamed(field: models.Field) -> str:
    return (
        f"{field} has no generator: give the field generator=, or the settings {_SETTING},"
        ' the name of a flakeid generator in a module, such as "shop.ids.generator"'
    )
