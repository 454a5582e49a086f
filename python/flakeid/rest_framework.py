"""IDs in Django REST framework: strings in JSON and OpenAPI, checked on the way in.

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
from .errors import InvalidIdError

__all__ = ["FlakeIdField", "FlakeIdModelSerializer"]


# Tools that describe interfaces know a CharField for a string.
class FlakeIdField(serializers.CharField):
    """An ID as a string; a number is refused, because whoever sent it may have rounded it.

    Args:
        prefix: what the text begins with, before an underscore: 1 to 16 lower-case letters and
            digits.
        layout: the layout of the IDs: twitter unless given. IDs with bits that it never sets are
            refused.
        public_ids: writes and opens the IDs instead. It has a prefix and a layout of its own.
        kwargs: as for `serializers.Field`.

    Raises:
        InvalidOptionError: a prefix that cannot be, or `public_ids` beside another option.
        InvalidLayoutError: a text that is not a layout.
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
        """The ID of what was sent. A CharField would take an empty text for none."""
        return serializers.Field.run_validation(self, data)

    def to_internal_value(self, data: Any) -> int:
        """The ID of a string."""
        try:
            return self.id_text.read(data)
        except InvalidIdError as error:
            raise serializers.ValidationError(str(error), code="flakeid") from error

    def to_representation(self, value: int) -> str:
        """The string of an ID."""
        return self.id_text.write(value)


class FlakeIdModelSerializer(serializers.ModelSerializer):
    """A ModelSerializer that knows the fields of `flakeid.django`, and keys that refer to them."""

    serializer_field_mapping = serializers.ModelSerializer.serializer_field_mapping | {
        Column: FlakeIdField,
        AutoColumn: FlakeIdField,
    }

    def build_standard_field(self, field_name: str, model_field: Any) -> tuple[Any, dict[str, Any]]:
        """The field and its options, the layout among them."""
        field, options = super().build_standard_field(field_name, model_field)
        if field is FlakeIdField:
            options["layout"] = model_field.layout
            options.pop("min_value", None)
            most = options.pop("max_value", None)
            if most is not None:  # what the column holds
                options["validators"] = [*options.get("validators", ()), MaxValueValidator(most)]
        return field, options

    def build_relational_field(
        self, field_name: str, relation_info: Any
    ) -> tuple[Any, dict[str, Any]]:
        """The field and its options: a key that refers to an ID is a string, too."""
        field, options = super().build_relational_field(field_name, relation_info)
        key = relation_info.related_model._meta.pk
        if field is serializers.PrimaryKeyRelatedField and isinstance(key, Column | AutoColumn):
            options["pk_field"] = FlakeIdField(layout=key.layout)
        return field, options
