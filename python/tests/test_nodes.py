"""Tests of generators with several nodes."""

import pytest

import flakeid


def test_fixed_generator_uses_all_its_nodes():
    generator = flakeid.Generator(nodes=[900, 903, 901, 902])
    assert generator.nodes == [900, 901, 902, 903]
    assert generator.node == 900
    ids = generator.next_ids(200_000)
    assert ids == sorted(set(ids))
    assert {flakeid.decode(id).node for id in ids} == {900, 901, 902, 903}
    local = generator.local()
    ids.extend(local.next_id() for _ in range(1000))
    assert len(set(ids)) == 201_000


@pytest.mark.parametrize("nodes", [(905,), range(906, 908), [908, 909]], ids=repr)
def test_nodes_accept_any_sequence_type(nodes):
    generator = flakeid.Generator(nodes=nodes)
    assert generator.nodes == list(nodes)
    assert flakeid.decode(generator.next_id()).node in nodes


def test_generator_of_one_node_lists_it(generator):
    assert generator.nodes == [generator.node]


def test_leased_generator_uses_all_its_nodes(tmp_path):
    url = f"sqlite://{tmp_path}/flakeid.db"
    with flakeid.lease(url, node_count=4) as generator:
        assert len(generator.nodes) == 4
        assert generator.node == min(generator.nodes)
        ids = generator.next_ids(200_000)
        assert ids == sorted(set(ids))
        assert {flakeid.decode(id).node for id in ids} == set(generator.nodes)
        other = flakeid.lease(url)
        assert other.node not in generator.nodes


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"nodes": []}, flakeid.InvalidOptionError, "nodes"),
        ({"nodes": [1, 2, 3]}, flakeid.InvalidOptionError, "nodes"),
        ({"nodes": [1, 1]}, flakeid.InvalidOptionError, "nodes"),
        ({"nodes": range(1 << 40)}, flakeid.InvalidOptionError, "nodes: 1099511627776 .* 1024"),
        ({"nodes": [1, 1024]}, flakeid.FieldOutOfRangeError, "0 to 1023"),
        ({"nodes": [1, -1]}, flakeid.FieldOutOfRangeError, "0 to 1023"),
        ({"nodes": [1, 2], "node": 1}, flakeid.InvalidOptionError, "node"),
        ({"nodes": [1, 2], "sequence_mask": 1}, flakeid.InvalidOptionError, "nodes|sequence_mask"),
        ({"nodes": 3}, TypeError, "nodes must be a list of ints, not int"),
        ({"nodes": {1, 2}}, TypeError, "nodes must be a list of ints, not set"),
        ({"nodes": "12"}, TypeError, "nodes must be an int, not str"),
        ({"nodes": [1, True]}, TypeError, "nodes must be an int, not bool"),
    ],
    ids=str,
)
def test_generator_rejects_invalid_nodes(options, error, text):
    with pytest.raises(error, match=text):
        flakeid.Generator(**options)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"node_count": 0}, flakeid.FlakeIdError),
        ({"node_count": 3}, flakeid.InvalidOptionError),
        ({"node_count": 2048}, flakeid.FlakeIdError),
        ({"node_count": -1}, flakeid.FieldOutOfRangeError),
        ({"node_count": 1 << 40}, flakeid.FieldOutOfRangeError),
        ({"node_count": 2, "node": 3}, flakeid.InvalidOptionError),
        ({"node_count": "2"}, TypeError),
        ({"node_count": True}, TypeError),
    ],
    ids=str,
)
def test_lease_rejects_invalid_node_counts(tmp_path, options, error):
    with pytest.raises(error, match="node_count"):
        flakeid.lease(f"sqlite://{tmp_path}/never.db", **options)
    assert list(tmp_path.iterdir()) == []
