"""Checks of tests/vectors/keyed.json."""

from datetime import UTC, datetime

import pytest

import flakeid

KEYRING = "a 000102030405060708090a0b0c0d0e0f"


def public_ids(row, **options):
    return flakeid.PublicIds(
        row["keyring"], row["domain"], row.get("layout"), prefix=row["prefix"], **options
    )


def test_public_ids_match_the_vectors(vectors):
    for row in vectors.rows("keyed", "public_ids"):
        ids = public_ids(row)
        assert ids.seal(int(row["id"])) == row["text"]
        assert ids.seal_bits(int(row["id"])) == int(row["bits"])
        assert ids.open(row["text"], now=2**62) == int(row["id"])


def test_open_accepts_and_rejects_the_strings_of_the_vectors(vectors):
    def opened(row):
        since = row["since_ms"] and int(row["since_ms"])
        ids = public_ids(vectors.rows("keyed", "one_domain"), since=since)
        return ids.open(row["text"], now=int(row["now_ms"]))

    for row in vectors.rows("keyed", "opened"):
        assert opened(row) == int(row["id"]), row
    for row in vectors.rows("keyed", "rejected"):
        with pytest.raises(flakeid.InvalidIdError, match="is not a public ID of this") as error:
            opened(row)
        assert error.value.code == row["code"], row


def test_public_ids_reject_invalid_options(vectors):
    for row in vectors.rows("keyed", "invalid"):
        with pytest.raises(flakeid.InvalidOptionError, match=f"^{row['option']}") as error:
            public_ids(row)
        assert error.value.code == row["code"], row


def test_public_ids_use_the_clock_and_check_types():
    since = datetime(2026, 1, 1, tzinfo=UTC)
    ids = flakeid.PublicIds(KEYRING, "user", since=since)
    new = flakeid.Generator(node=991).next_id()
    assert ids.open(ids.seal(new)) == new
    with pytest.raises(flakeid.InvalidIdError):
        ids.open(ids.seal(910499571847892992))
    with pytest.raises(flakeid.InvalidIdError):
        ids.open(ids.seal(flakeid.lower_bound(datetime(2090, 1, 1, tzinfo=UTC))))
    assert ids.layout == flakeid.Layout.parse("twitter")
    assert "0c0d" not in repr(ids)
    with pytest.raises(TypeError, match="keyring must be"):
        flakeid.PublicIds(KEYRING.encode(), "user")
    with pytest.raises(TypeError, match="text must be"):
        ids.open(7)
    with pytest.raises(flakeid.InvalidIdError):
        ids.seal(2**63)
