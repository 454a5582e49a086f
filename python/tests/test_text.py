"""Checks of tests/vectors/text.json and tests/vectors/uuid.json."""

from itertools import pairwise
from uuid import RFC_4122, UUID

import pytest

import flakeid


def test_text_forms_match_the_vectors(vectors):
    for group in vectors.rows("text", "forms"):
        encode = getattr(flakeid, f"to_{group['form']}")
        decode = getattr(flakeid, f"from_{group['form']}")
        assert group["valid"]
        assert group["rejected"]
        for row in group["valid"]:
            assert encode(int(row["id"])) == row["text"]
            assert decode(row["text"]) == int(row["id"])
        for row in group["accepted"]:
            assert decode(row["text"]) == int(row["id"])
        for row in group["rejected"]:
            with pytest.raises(flakeid.InvalidIdError) as error:
                decode(row["text"])
            assert error.value.code == row["code"], row


def test_uuids_match_the_vectors(vectors):
    rows = vectors.rows("uuid", "valid")
    for row in rows:
        uuid = flakeid.to_uuid(int(row["id"]))
        assert type(uuid) is UUID
        assert (str(uuid), uuid.bytes.hex()) == (row["text"], row["bytes"])
        assert (uuid.version, uuid.variant) == (8, RFC_4122)
        assert flakeid.from_uuid(uuid) == flakeid.from_uuid(row["text"]) == int(row["id"])
    for row in vectors.rows("uuid", "accepted"):
        assert flakeid.from_uuid(row["text"]) == int(row["id"])
    for before, after in pairwise(rows):
        assert flakeid.to_uuid(int(before["id"])) < flakeid.to_uuid(int(after["id"]))


def test_foreign_uuids_are_rejected(vectors):
    refused = [(row["text"], row["code"]) for row in vectors.rows("uuid", "rejected")]
    for row in vectors.rows("uuid", "rejected_bytes"):
        data = bytes.fromhex(row["bytes"])
        if len(data) == 16:  # uuid.UUID excludes all other lengths
            refused.append((UUID(bytes=data), row["code"]))
    for uuid, code in refused:
        with pytest.raises(flakeid.InvalidIdError) as error:
            flakeid.from_uuid(uuid)
        assert error.value.code == code, uuid


@pytest.mark.parametrize("value", [None, 1, bytes(16), b"0ca2be89-5c23-8900-8366-6c616b656964"])
def test_from_uuid_rejects_other_types(value):
    with pytest.raises(TypeError, match=r"uuid must be a uuid\.UUID or a str, not "):
        flakeid.from_uuid(value)


@pytest.mark.parametrize("data", [bytes(8), bytearray(8), memoryview(bytes(8))])
def test_from_bytes_accepts_any_buffer(data):
    assert flakeid.from_bytes(data) == 0


@pytest.mark.parametrize("size", [0, 1, 7, 9, 16])
def test_from_bytes_rejects_other_lengths(size):
    with pytest.raises(flakeid.InvalidIdError, match=f"8 bytes, not {size}"):
        flakeid.from_bytes(bytes(size))


@pytest.mark.parametrize(
    "form",
    [
        *("decimal", "base32", "base36", "base58", "base62", "hex", "base58_flickr", "zbase32"),
        "uuid",
    ],
)
@pytest.mark.parametrize("text", ["", " 1", "\ud800", "\0", "1" * 1_000_000])
def test_decoders_reject_foreign_characters(form, text):
    with pytest.raises(flakeid.InvalidIdError):
        getattr(flakeid, f"from_{form}")(text)
