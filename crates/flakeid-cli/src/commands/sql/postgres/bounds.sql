
-- Returns the tick that contains an instant, clamped to the first and the last tick of the layout.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_tick_at(instant timestamptz) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
  utc timestamp := instant AT TIME ZONE 'UTC';
  ms bigint;
BEGIN
  IF instant <= timestamptz '{{epoch}}' THEN RETURN 0; END IF;
  IF NOT isfinite(instant) THEN RETURN {{max_tick}}; END IF;
  -- Seconds and milliseconds are read separately, because both are floating-point numbers in PostgreSQL 13, and only
  -- so the result is exact.
  ms := extract(epoch FROM date_trunc('second', utc))::bigint * 1000
    + floor(extract(milliseconds FROM utc))::bigint % 1000;
  RETURN least((ms - {{epoch_ms}}) / {{unit_ms}}, {{max_tick}});
END $body$;

-- Returns the smallest ID of the tick that contains an instant: WHERE id >= flakeid_min('2026-01-01Z').
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_min(instant timestamptz) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
BEGIN
  RETURN {{schema}}.flakeid_tick_at(instant) << {{tick_shift}};
END $body$;

-- Returns the largest ID of the tick that contains an instant, inclusive: WHERE id <= flakeid_max('2026-01-31Z').
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_max(instant timestamptz) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
BEGIN
  RETURN ({{schema}}.flakeid_tick_at(instant) << {{tick_shift}}) | {{below_tick}};
END $body$;
