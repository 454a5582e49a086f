"""IDs in pydantic 2, FastAPI and SQLModel: `int` in Python, a string in JSON and OpenAPI.

>>> class Order(BaseModel):
...     id: FlakeId
>>> Order(id=910499571847892992).model_dump_json()
'{"id":"910499571847892992"}'
>>> UserId = Annotated[int, IdText(prefix="usr")]
"""

from typing import Annotated, TypeAlias

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from . import _frameworks
from ._flakeid import Layout, PublicIds
from .errors import InvalidIdError

__all__ = ["FlakeId", "FlakeIdIn", "IdText"]


class IdText(_frameworks.IdText):
    """The annotation that declares an `int` as an ID: `FlakeId` is `Annotated[int, IdText()]`.

    In Python the value is an int; strings are also accepted and converted. In JSON and OpenAPI the
    value is a string. Numbers in JSON are rejected, because the sender may have rounded them.

    Args:
        prefix: the beginning of each string, before an underscore: 1 to 16 lowercase letters and
            digits.
        layout: the layout of the IDs (default: twitter). IDs with bits that the layout never sets
            are rejected.
        public_ids: the converter with which to write and read public IDs instead, with its own
            prefix and layout.
        text_only: whether Python's ints are rejected, too. FastAPI parses the JSON of a request
            itself and passes ints on, so the fields of requests need this option: see `FlakeIdIn`.

    Raises:
        InvalidOptionError: the prefix is invalid, or `public_ids` is combined with another option.
        InvalidLayoutError: `layout` is a string that does not describe a layout.
    """

    __slots__ = ("_text_only",)

    def __init__(
        self,
        *,
        prefix: str | None = None,
        layout: Layout | str | None = None,
        public_ids: PublicIds | None = None,
        text_only: bool = False,
    ) -> None:
        super().__init__(prefix=prefix, layout=layout, public_ids=public_ids)
        self._text_only = text_only

    def _validate_text(self, value: object) -> int:
        try:
            return self.read(value)
        except InvalidIdError as error:
            raise _refused(error) from error

    def _validate_python(self, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            return self._validate_text(value)
        try:
            return self.checked(value)
        except InvalidIdError as error:
            raise _refused(error) from error

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        if source is not int:
            raise TypeError(
                f"IdText must annotate int, not {source!r}: Annotated[int, IdText(…)]; if None is"
                " allowed, Annotated[int, IdText(…)] | None"
            )
        text = core_schema.no_info_plain_validator_function(self._validate_text)
        python = core_schema.no_info_plain_validator_function(self._validate_python)
        return core_schema.json_or_python_schema(
            json_schema=text,
            python_schema=text if self._text_only else python,
            serialization=core_schema.plain_serializer_function_ser_schema(
                self.write, return_schema=core_schema.str_schema(), when_used="json"
            ),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string", "description": f"a 64-bit ID, such as {self.example}"}


def _refused(error: InvalidIdError) -> PydanticCustomError:
    return PydanticCustomError("flakeid", "{reason}", {"reason": str(error)})


#: An ID: an int in Python, where strings are accepted too, and a string of digits in JSON.
FlakeId: TypeAlias = Annotated[int, IdText()]

#: An ID in a request: only a string is accepted, even if the framework parses the JSON itself, as
#: FastAPI does.
FlakeIdIn: TypeAlias = Annotated[int, IdText(text_only=True)]
