
-- Returns all fields of an ID, with the keys of `flakeid inspect --json`. The ID is a string, because a JSON number
-- of 64 bits loses digits in JavaScript. The `+ 0` turns the result of a function into a JSON number.
CREATE OR REPLACE FUNCTION flakeid_inspect(id BIGINT) RETURNS JSON DETERMINISTIC NO SQL
RETURN IF(id IS NULL, NULL, JSON_OBJECT(
  'id', CAST(id AS CHAR),
  'layout', '{{layout_name}}',
  'timestamp', CONCAT(LEFT(DATE_FORMAT(flakeid_time(id), '%Y-%m-%dT%H:%i:%s.%f'), {{timestamp_length}}), 'Z'),
  'unix_ms', flakeid_unix_ms(id) + 0,
  'tick', flakeid_tick(id) + 0,
  'node', flakeid_node(id) + 0,
  'datacenter', {{datacenter}} + 0,
  'worker', {{worker}} + 0,
  'clock_sequence', {{clock_sequence}} + 0,
  'sequence', flakeid_sequence(id) + 0,
  'hex', flakeid_text(id, 'hex'),
  'base32', flakeid_text(id, 'base32'),
  'base36', flakeid_text(id, 'base36'),
  'base58', flakeid_text(id, 'base58'),
  'base62', flakeid_text(id, 'base62'),
  'base58_flickr', flakeid_text(id, 'base58_flickr'),
  'zbase32', flakeid_text(id, 'zbase32'),
  'uuid', flakeid_text(id, 'uuid'))) $$
