
-- Returns an ID as a UUID of version 8 (RFC 9562, section 5.8). It has the 64 bits of the ID, in order, around the
-- version and the variant, and then two one bits and `flakeid` in ASCII. Sorts like the unsigned ID.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_to_uuid(id bigint) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $body$
  SELECT (left(overlay(lpad(to_hex(id), 16, '0') PLACING '8' FROM 13 FOR 0), 16)
    || to_hex(131 | ((id & 15) << 2)) || '666c616b656964')::uuid
$body$;

-- Returns the ID in a UUID that flakeid_to_uuid returned; from 2^63 on it is negative as a bigint. Rejects all other
-- UUIDs.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_from_uuid(value uuid) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
  digits text := replace(value::text, '-', '');
BEGIN
  IF digits !~ '^.{12}8.{3}[89ab][37bf]666c616b656964$' THEN
    RAISE EXCEPTION USING ERRCODE = 'IDINV', MESSAGE = format('FLAKEID_INVALID_ID: %s is not an ID in uuid: '
      'the UUID %s; flakeid did not create it, so it contains no ID', quote_literal(value::text), CASE
      WHEN substr(digits, 17, 1) !~ '[89ab]' THEN 'does not have the variant of RFC 9562'
      WHEN substr(digits, 13, 1) <> '8' THEN
        format('has version %s, but an ID requires version 8', ('x' || substr(digits, 13, 1))::bit(4)::int)
      ELSE 'has version 8, but its last 58 bits are not those of flakeid''s UUIDs, which end with 66-6c616b656964' END);
  END IF;
  RETURN ('x' || left(digits, 12) || substr(digits, 14, 3)
    || to_hex((('x' || substr(digits, 17, 2))::bit(8)::int >> 2) & 15))::bit(64)::bigint;
END $body$;
