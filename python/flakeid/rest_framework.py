"""IDs in Django REST framework: strings in JSON and OpenAPI, which are validated when read.

>>> class OrderSerializer(FlakeIdModelSerializer):
...     class Meta:
...         model = Order
...         fields = ["id", "item"]
"""

from typing import Any

from django.core.validators import MaxValueValidator
from rest_framework import serializers

from ._flakeid import Layout, PublicIds
from ._frameworks import IdText
from .django import FlakeIdAutoField as AutoColumn
from .django import FlakeIdField as Column
from .django import FlakeIdUuidField as UuidColumn
from .errors import InvalidIdError

__all__ = ["FlakeIdField", "FlakeIdModelSerializer"]


# The base class is CharField, so that tools that generate API schemas describe a string.
class FlakeIdField(serializers.CharField):
    """An ID as a string; numbers are rejected, because the sender may have rounded them.

    Args:
        prefix: the beginning of each string, before an underscore: 1 to 16 lowercase letters and
            digits.
        layout: the layout of the IDs (default: twitter). IDs with bits that the layout never sets
            are rejected.
        public_ids: the converter with which to write and read public IDs instead, with its own
            prefix and layout.
        kwargs: the arguments of `serializers.Field`.

    Raises:
        InvalidOptionError: the prefix is invalid, or `public_ids` is combined with another option.
        InvalidLayoutError: `layout` is a string that does not describe a layout.
    """

    def __init__(
        self,
        *,
        prefix: str | None = None,
        layout: Layout | str | None = None,
        public_ids: PublicIds | None = None,
        **kwargs: Any,
    ) -> None:
        self.id_text = IdText(prefix=prefix, layout=layout, public_ids=public_ids)
        super().__init__(**kwargs)

    def run_validation(self, data: Any = serializers.empty) -> int | None:
        """Return the ID of a value. A CharField would treat an empty string as a missing value."""
        return serializers.Field.run_validation(self, data)

    def to_internal_value(self, data: Any) -> int:
        """Return the ID of a string."""
        try:
            return self.id_text.read(data)
        except InvalidIdError as error:
            raise serializers.ValidationError(str(error), code="flakeid") from error

    def to_representation(self, value: int) -> str:
        """Return the string form of an ID."""
        return self.id_text.write(value)


class FlakeIdModelSerializer(serializers.ModelSerializer):
    """A ModelSerializer that supports the fields of `flakeid.django`, and foreign keys to them."""

    serializer_field_mapping = serializers.ModelSerializer.serializer_field_mapping | {
        Column: FlakeIdField,
        AutoColumn: FlakeIdField,
        UuidColumn: FlakeIdField,
    }

    def build_standard_field(self, field_name: str, model_field: Any) -> tuple[Any, dict[str, Any]]:
        """Return the field and its options, including the layout."""
        field, options = super().build_standard_field(field_name, model_field)
        if field is FlakeIdField:
            options["layout"] = model_field.layout
            options.pop("min_value", None)
            most = options.pop("max_value", None)
            if most is not None:  # the maximum of the column
                options["validators"] = [*options.get("validators", ()), MaxValueValidator(most)]
        return field, options

    def build_relational_field(
        self, field_name: str, relation_info: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Return the field and its options; a foreign key to an ID is a string, too."""
        field, options = super().build_relational_field(field_name, relation_info)
        key = relation_info.related_model._meta.pk
        if field is serializers.PrimaryKeyRelatedField and isinstance(
            key, Column | AutoColumn | UuidColumn
        ):
            options["pk_field"] = FlakeIdField(layout=key.layout)
        return field, options
