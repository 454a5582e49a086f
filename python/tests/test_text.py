"""Checks of tests/vectors/text.json."""

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


@pytest.mark.parametrize("data", [bytes(8), bytearray(8), memoryview(bytes(8))])
def test_from_bytes_accepts_any_buffer(data):
    assert flakeid.from_bytes(data) == 0


@pytest.mark.parametrize("size", [0, 1, 7, 9, 16])
def test_from_bytes_rejects_other_lengths(size):
    with pytest.raises(flakeid.InvalidIdError, match=f"8 bytes, not {size}"):
        flakeid.from_bytes(bytes(size))


@pytest.mark.parametrize(
    "form", ["decimal", "base32", "base36", "base58", "base62", "hex", "base58_flickr", "zbase32"]
)
@pytest.mark.parametrize("text", ["", " 1", "\ud800", "\0", "1" * 1_000_000])
def test_decoders_reject_foreign_characters(form, text):
    with pytest.raises(flakeid.InvalidIdError):
        getattr(flakeid, f"from_{form}")(text)
