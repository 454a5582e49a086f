
-- Returns all fields of an ID, with the keys of `flakeid inspect --json`. The ID is a string, because a JSON number
-- of 64 bits loses digits in JavaScript.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_inspect(id bigint) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
  tick bigint := {{schema}}.flakeid_tick(id);
  ms bigint := {{epoch_ms}} + tick * {{unit_ms}};
BEGIN
  RETURN jsonb_build_object(
    'id', id::text,
    'layout', '{{layout_name}}',
    'timestamp', CASE WHEN ms < 253402300800000 THEN
      left(to_char({{schema}}.flakeid_time(id) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS'), {{timestamp_length}}) || 'Z' END,
    'unix_ms', ms,
    'tick', tick,
    'node', {{schema}}.flakeid_node(id),
    'datacenter', {{datacenter}},
    'worker', {{worker}},
    'clock_sequence', {{clock_sequence}},
    'sequence', {{schema}}.flakeid_sequence(id),
    'hex', {{schema}}.flakeid_text(id, 'hex'),
    'base32', {{schema}}.flakeid_text(id, 'base32'),
    'base36', {{schema}}.flakeid_text(id, 'base36'),
    'base58', {{schema}}.flakeid_text(id, 'base58'),
    'base62', {{schema}}.flakeid_text(id, 'base62'),
    'base58_flickr', {{schema}}.flakeid_text(id, 'base58_flickr'),
    'zbase32', {{schema}}.flakeid_text(id, 'zbase32'),
    'uuid', {{schema}}.flakeid_text(id, 'uuid'));
END $body$;
