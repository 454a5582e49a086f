
-- Returns the identity of this database. A copy on the same server has another number, and a copy elsewhere has
-- another system identifier. A physical copy of the whole cluster has the same identity and cannot be distinguished.
-- A dump that is restored into its own database is distinguished by the number of the sequence that it creates.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_this_database() RETURNS text
LANGUAGE sql STABLE AS $body$
  SELECT system_identifier || '.' || oid FROM pg_control_system(), pg_database WHERE datname = current_database()
$body$;

-- The position of this node: tick << {{slot_bits}} | number within the tick. Every tick has a slot of
-- 2^{{slot_bits}} values, and the first {{usable}} of them become IDs. Only flakeid_attempt opens a slot.
IF to_regclass('{{schema}}.flakeid_position') IS NULL THEN
  CREATE SEQUENCE {{schema}}.flakeid_position AS bigint MINVALUE 0 START 0 NO CYCLE;
  COMMENT ON SEQUENCE {{schema}}.flakeid_position IS
    'flakeid_next() continues at its value; IDs repeat if it is set to a lower value by hand';
  GRANT USAGE ON SEQUENCE {{schema}}.flakeid_position TO PUBLIC;
END IF;

-- Creates or replaces a function that returns a constant, which the planner writes into plans.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_define(name text, type regtype, value text) RETURNS void
LANGUAGE plpgsql AS $body$
BEGIN
  EXECUTE format(
    'CREATE OR REPLACE FUNCTION {{schema}}.%I() RETURNS %s LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $own$ SELECT %L::%s $own$',
    name, type, value, type);
END $body$;

-- The first tick whose slot belongs to this database. Other users of the node may have used earlier ticks.
IF to_regprocedure('{{schema}}.flakeid_first_tick()') IS NULL THEN
  PERFORM {{schema}}.flakeid_define('flakeid_first_tick', 'bigint', '0');
END IF;

-- Ensures that no further ID has an earlier tick than this. The slot before it is marked as used up, so a session
-- that takes a value of it meanwhile finds that the value is not an ID.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_begin_at(tick bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
  seq CONSTANT regclass := '{{schema}}.flakeid_position';
  used_up CONSTANT bigint := (tick - 1 << {{slot_bits}}) + {{last_usable}};
  last bigint := pg_sequence_last_value(seq);
BEGIN
  -- For the two locks, see flakeid_attempt.
  BEGIN
    PERFORM pg_advisory_xact_lock({{lock_class}}, seq::oid::int);
    last := pg_sequence_last_value(seq);
    IF used_up > coalesce(last, -1) THEN
      PERFORM setval(seq, used_up);
    END IF;
    RAISE SQLSTATE 'ID000';
  EXCEPTION WHEN SQLSTATE 'ID000' THEN NULL;
  END;
  IF tick > {{schema}}.flakeid_first_tick() THEN
    PERFORM {{schema}}.flakeid_define('flakeid_first_tick', 'bigint', tick::text);
  END IF;
END $body$;
REVOKE EXECUTE ON FUNCTION {{schema}}.flakeid_begin_at(bigint) FROM PUBLIC;
PERFORM {{schema}}.flakeid_begin_at({{first_tick}});

-- Lets this database generate IDs if it is a copy of the one that did, or changes the node. No other database or
-- program may use the node from then on; from_tick is the first tick that other users have not used.
--
-- Once this is committed, no transaction issues an ID of the old node. A transaction that takes IDs holds the
-- lock of nextval on the sequence until it ends, and ALTER SEQUENCE waits for that lock. A transaction that gets the
-- lock later reads the new functions, because a session reads catalog changes when it acquires a lock.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_rearm(node bigint, from_tick bigint DEFAULT 0) RETURNS void
LANGUAGE plpgsql SET lock_timeout = '1s' AS $body$
DECLARE
  pids text;
BEGIN
  IF node IS NULL OR node NOT BETWEEN 0 AND {{max_node}} THEN
    RAISE EXCEPTION USING ERRCODE = 'IDRNG', MESSAGE = format(
      'FLAKEID_FIELD_OUT_OF_RANGE: node %s is out of range: must be from 0 to {{max_node}}', node);
  END IF;
  IF from_tick IS NULL OR from_tick NOT BETWEEN 0 AND {{last_tick}} THEN
    RAISE EXCEPTION USING ERRCODE = 'IDRNG', MESSAGE = format(
      'FLAKEID_FIELD_OUT_OF_RANGE: from_tick %s is out of range: must be from 0 to {{last_tick}}', from_tick);
  END IF;
  BEGIN
    -- This changes nothing, because no column owns the sequence. Calls that arrive meanwhile wait behind it.
    ALTER SEQUENCE {{schema}}.flakeid_position OWNED BY NONE;
  EXCEPTION WHEN lock_not_available THEN
    SELECT string_agg(coalesce(pid::text, 'prepared transaction'), ', ' ORDER BY pid) INTO pids FROM pg_locks
    WHERE locktype = 'relation' AND relation = '{{schema}}.flakeid_position'::regclass AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND mode NOT IN ('AccessShareLock', 'RowShareLock') AND pid IS DISTINCT FROM pg_backend_pid();
    RAISE EXCEPTION USING ERRCODE = 'lock_not_available', MESSAGE = format(
      'flakeid_rearm: transactions that have taken IDs are still open in these server processes: %s',
      coalesce(pids, 'all have ended by now')),
      HINT = 'Call flakeid_rearm again when they have ended, or end them with pg_terminate_backend(pid).';
  END;
  PERFORM {{schema}}.flakeid_begin_at(greatest({{clock_tick}} + 1, from_tick, 1));
  PERFORM {{schema}}.flakeid_define('flakeid_own_node', 'bigint', node::text);
  PERFORM {{schema}}.flakeid_define('flakeid_own_database', 'text', {{schema}}.flakeid_this_database());
  PERFORM {{schema}}.flakeid_define('flakeid_own_position', 'oid', {{this_position}}::text);
END $body$;
REVOKE EXECUTE ON FUNCTION {{schema}}.flakeid_rearm(bigint, bigint) FROM PUBLIC;

-- flakeid_rearm records which node, database and sequence generate IDs. Running the script again does not change
-- these functions, so running it in a copy of the database does not let the copy generate IDs.
IF to_regprocedure('{{schema}}.flakeid_own_node()') IS NULL THEN
  PERFORM {{schema}}.flakeid_begin_at({{first_tick_of_new}});
  PERFORM {{schema}}.flakeid_rearm({{node}});
ELSIF to_regprocedure('{{schema}}.flakeid_own_position()') IS NULL THEN
  -- Earlier scripts did not record the sequence, so it may be a restored one, which is behind the last ID.
  PERFORM {{schema}}.flakeid_begin_at(greatest({{clock_tick}} + 1, 1));
  PERFORM {{schema}}.flakeid_define('flakeid_own_position', 'oid', {{this_position}}::text);
END IF;

-- Takes places in the sequence, with all checks. If it opens a slot, it takes up to "wanted" places, and returns a
-- place whose number within the tick is 0. Otherwise it takes one place.
--
-- If two sessions read the sequence and then set it, one could set it back. So one session at a time opens a slot,
-- under an advisory lock. Taking values does not require the lock, because a slot has more values than can be taken
-- from it ({{spare}} more than IDs, and sessions stop when the IDs are used up). So nextval never leaves the slot,
-- and an opened slot lies above all values that were taken before.
--
-- The lock must not last until the transaction ends, because transactions that insert would then run one after
-- another. It must also not outlive a cancelled statement. So the lock is taken in a block that always ends with an
-- error, which releases the lock and does not change the sequence. Before that, reading the sequence locks the sequence,
-- as nextval does, until the transaction ends. flakeid_rearm takes a stronger lock on the sequence and then the advisory
-- lock, in the same order.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_attempt(wanted int) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
  seq CONSTANT regclass := '{{schema}}.flakeid_position';
  ms bigint;
  tick bigint;
  last bigint := pg_sequence_last_value(seq);
  target bigint;
  taken bigint;
  wait_ms bigint;
  waited_ms bigint := 0;
BEGIN
  IF {{schema}}.flakeid_own_position() <> seq::oid
     OR current_setting('flakeid.database', true) IS DISTINCT FROM {{schema}}.flakeid_own_database() THEN
    IF {{schema}}.flakeid_own_position() <> seq::oid
       OR {{schema}}.flakeid_this_database() <> {{schema}}.flakeid_own_database() THEN
      RAISE EXCEPTION USING ERRCODE = 'IDFRK', MESSAGE = format(
        'FLAKEID_FORKED: node %s belongs to the database from which this one was copied or restored',
        {{schema}}.flakeid_own_node()),
        HINT = 'Call {{schema}}.flakeid_rearm(node) with another node, or with the same one if the original '
          'generates no more IDs, such as after pg_upgrade or after a dump was restored in its place.';
    END IF;
    -- The session remembers the result. If a rollback reverts the setting, the session checks again.
    PERFORM set_config('flakeid.database', {{schema}}.flakeid_own_database(), false);
  END IF;
  LOOP
    taken := NULL;
    BEGIN
      PERFORM pg_advisory_xact_lock({{lock_class}}, seq::oid::int);
      ms := {{clock_ms}};
      tick := (ms - {{epoch_ms}}) / {{unit_ms}};
      last := coalesce(pg_sequence_last_value(seq), -1);
      target := greatest(tick, (last >> {{slot_bits}}) + 1);
      IF ms < {{epoch_ms}} THEN
        NULL;
      ELSIF last >> {{slot_bits}} >= tick AND last & {{slot_mask}} < {{last_usable}} THEN
        taken := nextval(seq);
      ELSIF target <= least(tick, {{last_tick}}) THEN
        taken := target << {{slot_bits}};
        PERFORM setval(seq, taken + least(wanted, {{usable}}) - 1);
      END IF;
      RAISE SQLSTATE 'ID000';
    EXCEPTION WHEN SQLSTATE 'ID000' THEN NULL;
    END;
    IF taken & {{slot_mask}} < {{usable}} THEN
      RETURN taken;
    ELSIF taken IS NOT NULL THEN
      CONTINUE;
    ELSIF ms < {{epoch_ms}} THEN
      RAISE EXCEPTION USING ERRCODE = 'IDEPO', MESSAGE = format(
        'FLAKEID_BEFORE_EPOCH: the clock reads %s, which is before the layout''s epoch, {{epoch}}; set the clock',
        to_timestamp(ms / 1000.0));
    ELSIF target > {{last_tick}} THEN
      RAISE EXCEPTION USING ERRCODE = 'IDHOR', MESSAGE =
        'FLAKEID_HORIZON_REACHED: the layout''s time field ran out at {{horizon}}; old IDs still decode, '
        'new ones need another layout or a later epoch';
    END IF;
    wait_ms := {{epoch_ms}} + target * {{unit_ms}} - ms;
    IF waited_ms + wait_ms > {{max_wait_ms}} THEN
      IF {{schema}}.flakeid_first_tick() > last >> {{slot_bits}} THEN
        RAISE EXCEPTION USING ERRCODE = 'IDFNC', MESSAGE = format(
          'FLAKEID_FENCE_IN_FUTURE: earlier users of node %s may have used ticks that are still ahead of the clock; '
          'the first ID comes in %s ms', {{schema}}.flakeid_own_node(), wait_ms);
      END IF;
      IF last >> {{slot_bits}} > tick THEN
        RAISE EXCEPTION USING ERRCODE = 'IDCLK', MESSAGE = format(
          'FLAKEID_CLOCK_ROLLBACK: the clock went back: the latest ID is %s ms ahead of it; no ID is issued until '
          'it has caught up (configure NTP to slew the clock, not to step it)',
          {{epoch_ms}} + (last >> {{slot_bits}}) * {{unit_ms}} - ms);
      END IF;
      RAISE EXCEPTION USING ERRCODE = 'IDSEQ', MESSAGE = format(
        'FLAKEID_SEQUENCE_EXHAUSTED: every sequence number of the current tick is used up; the next number is free in %s ms',
        wait_ms);
    END IF;
    PERFORM pg_sleep(wait_ms / 1000.0);
    waited_ms := waited_ms + wait_ms;
  END LOOP;
END $body$;

-- Returns the next ID, which is larger than all earlier IDs. Waits, at most {{max_wait_ms}} ms, while the tick is full
-- or the clock is behind the latest ID.
-- CREATE TABLE orders (id bigint DEFAULT {{schema}}.flakeid_next() PRIMARY KEY)
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_next() RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $body$
DECLARE
  place bigint := pg_sequence_last_value('{{schema}}.flakeid_position'::regclass);
BEGIN
  -- If the slot of the clock's tick, or of a later one, is open and not used up, nextval is sufficient.
  IF place & {{slot_mask}} < {{last_usable}}
     AND {{clock_tick}} BETWEEN 0 AND place >> {{slot_bits}}
     AND current_setting('flakeid.database', true) = {{schema}}.flakeid_own_database()
     AND {{schema}}.flakeid_own_position() = {{this_position}} THEN
    place := nextval('{{schema}}.flakeid_position'::regclass);
    IF place & {{slot_mask}} < {{usable}} THEN
      RETURN {{id_of_place}};
    END IF;
  END IF;
  place := {{schema}}.flakeid_attempt(1);
  RETURN {{id_of_place}};
END $body$;

-- Returns the next "count" IDs, in order: INSERT INTO orders (id, …) SELECT id, … FROM flakeid_next_n(1000) id.
-- In a lateral join several rows may share IDs, because PostgreSQL may cache the results for equal arguments
-- (Memoize).
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_next_n(count int) RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE AS $body$
DECLARE
  wanted int := count;
  place bigint;
  rows int;
BEGIN
  IF count < 0 THEN
    RAISE EXCEPTION USING ERRCODE = 'IDRNG', MESSAGE = format(
      'FLAKEID_FIELD_OUT_OF_RANGE: count %s is out of range: must be from 0 to 2147483647', count);
  END IF;
  WHILE wanted > 0 LOOP
    place := {{schema}}.flakeid_attempt(wanted);
    IF place & {{slot_mask}} = 0 THEN
      -- A slot was opened for this call, which owns the places that it requested.
      rows := least(wanted, {{usable}});
      RETURN QUERY SELECT g FROM generate_series(
        {{id_of_place}}, {{id_of_place}} + ((rows - 1)::bigint << {{sequence_shift}}), 1::bigint << {{sequence_shift}}) g;
      wanted := wanted - rows;
    ELSE
      -- The clock's tick is in use, so its remaining places are taken one by one. A place beyond the usable ones is
      -- not an ID, and the remaining rows then come from the next slot.
      RETURN NEXT {{id_of_place}};
      RETURN QUERY SELECT {{id_of_p}} FROM (
        SELECT CASE WHEN pg_sequence_last_value('{{schema}}.flakeid_position'::regclass) & {{slot_mask}} < {{last_usable}}
          THEN nextval('{{schema}}.flakeid_position'::regclass) END AS p
        FROM generate_series(2, least(wanted, {{usable}}))) places
      WHERE p & {{slot_mask}} < {{usable}};
      GET DIAGNOSTICS rows = ROW_COUNT;
      wanted := wanted - 1 - rows;
    END IF;
  END LOOP;
END $body$;
