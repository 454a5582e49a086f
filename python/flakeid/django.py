"""IDs in Django's models: fields whose defaults a generator makes, also as DEFAULT_AUTO_FIELD.

>>> class Order(models.Model):
...     id = FlakeIdField(primary_key=True, generator="shop.ids.generator")
>>> Order.objects.filter(id__created_from=start, id__created_before=end)

A generator is named and not given, because migrations write a field's options down, and so that
only processes that make IDs lease a node.
"""

from datetime import datetime
from functools import cache
from typing import Any, Protocol, SupportsIndex

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.lookups import GreaterThanOrEqual, LessThan
from django.utils.module_loading import import_string

from ._flakeid import Layout
from ._frameworks import layout_of, signed

__all__ = ["FlakeIdAutoField", "FlakeIdField"]

_SETTING = "FLAKEID_GENERATOR"


class _Generator(Protocol):
    def next_id(self) -> int: ...


class _Field(models.Field):
    """What both fields share."""

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
        """The next ID of the field's generator.

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
        """The field as a migration writes it: the generator by its name."""
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
        """Django's checks, and that a generator is named."""
        found = super().check(**kwargs)
        if self._makes_ids and self._named() is None:
            found.append(Error(_unnamed(self), obj=self, id="flakeid.E001"))
        return found

    def get_internal_type(self) -> str:
        """Neither a serial nor an identity column: the program makes the IDs."""
        return "BigIntegerField"

    def get_db_prep_save(self, value: Any, connection: BaseDatabaseWrapper) -> Any:
        """The ID as it is stored.

        Raises:
            InvalidIdError: it does not fit a signed column of 64 bits.
            TypeError: it is a float, which may have been rounded, or a bool.
        """
        if value is not None and not hasattr(value, "as_sql"):
            # Those would be made ints of.
            is_wrong = isinstance(value, float | bool)
            value = signed(value if is_wrong else self.to_python(value))
        return super().get_db_prep_save(value, connection)


class FlakeIdField(_Field, models.BigIntegerField):
    """A column of IDs: `bigint`, and `int` in Python.

    Args:
        args: as for `models.BigIntegerField`.
        generator: where the generator of the column's default is, such as "shop.ids.generator".
            For a primary key it is the setting FLAKEID_GENERATOR unless given.
        layout: the layout of the IDs, by which `created_from` and `created_before` read times.
        kwargs: as for `models.BigIntegerField`.
    """


class FlakeIdAutoField(_Field, models.BigAutoField):
    """The primary key of models that name none, if DEFAULT_AUTO_FIELD is this class.

    The setting FLAKEID_GENERATOR says where the generator is, such as "shop.ids.generator".
    """

    # Nothing has to be asked for after an insertion.
    db_returning = False


class CreatedFrom(GreaterThanOrEqual):
    """`id__created_from`: made at an instant or later, an aware datetime or Unix milliseconds."""

    def get_prep_lookup(self) -> int:
        """The smallest ID of the instant's tick."""
        return _bound(self)


class CreatedBefore(LessThan):
    """`id__created_before`: made before an instant, an aware datetime or Unix milliseconds."""

    def get_prep_lookup(self) -> int:
        """The smallest ID of the instant's tick, which is rounded down."""
        return _bound(self)


def _bound(lookup: models.Lookup) -> int:
    when: datetime | SupportsIndex = lookup.rhs
    return signed(lookup.lhs.output_field.layout.lower_bound(when))


# Here, because the classes must keep the names by which a database's operators are found.
FlakeIdField.register_lookup(CreatedFrom, "created_from")
FlakeIdField.register_lookup(CreatedBefore, "created_before")
FlakeIdAutoField.register_lookup(CreatedFrom, "created_from")
FlakeIdAutoField.register_lookup(CreatedBefore, "created_before")


@cache
def _imported(path: str) -> _Generator:
    return import_string(path)


def _unnamed(field: models.Field) -> str:
    return (
        f"{field} has no generator: give the field generator=, or the settings {_SETTING},"
        ' the name of a flakeid generator in a module, such as "shop.ids.generator"'
    )
