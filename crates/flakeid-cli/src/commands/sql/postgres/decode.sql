
-- Rejects a number that is not an ID of this layout, because decoding it would lose bits.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_refuse(id bigint) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $body$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'IDINV', MESSAGE = format(
    'FLAKEID_INVALID_ID: %s is not an ID of the layout {{descriptor}}: it has bits set outside that layout''s fields',
    id);
END $body$;

-- Returns the tick: the time field.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_tick(id bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
BEGIN
  IF id & {{stray}} <> 0 THEN PERFORM {{schema}}.flakeid_refuse(id); END IF;
  RETURN {{tick_of_id}};
END $body$;

-- Returns the time at which the tick of an ID begins. A timestamp cannot be later than the year 294276.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_time(id bigint) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
  ms bigint := {{epoch_ms}} + {{schema}}.flakeid_tick(id) * {{unit_ms}};
BEGIN
  -- Days and seconds are separate, because a single number of seconds would not be exact.
  RETURN (timestamp '1970-01-01' + make_interval(days => (ms / 86400000)::int, secs => (ms % 86400000) / 1000.0))
    AT TIME ZONE 'UTC';
END $body$;
