
-- The position of this node: tick << {{slot_bits}} | number within the tick. Every tick has a slot of
-- 2^{{slot_bits}} values, and the first {{usable}} of them become IDs.
--
-- It is the AUTO_INCREMENT of this table, whose rows exist only within a transaction. No two inserts get the same
-- value, and a rollback does not take it back. An insert of a larger value raises it, and an insert of a smaller
-- value does not change it. No session waits for the transactions of others. A sequence is not suitable, because its
-- SETVAL accepts only a literal.
CREATE TABLE IF NOT EXISTS flakeid_position (
  value BIGINT NOT NULL AUTO_INCREMENT,
  session BIGINT UNSIGNED NOT NULL,
  node_{{node}} BIT,
  PRIMARY KEY (value, session)
) ENGINE = InnoDB
COMMENT = 'flakeid_next() continues at its AUTO_INCREMENT; IDs repeat if that is lowered by hand' $$

BEGIN NOT ATOMIC
  DECLARE ms BIGINT;
  DECLARE used_up BIGINT DEFAULT {{used_up}};
  IF @flakeid_is_new THEN
    -- An earlier user of the node may have used the current tick.
    {{read_clock}}
    SET used_up = GREATEST((GREATEST({{clock_tick}}, 0) << {{slot_bits}}) + {{last_usable}}, {{used_up_of_new}});
  END IF;
  INSERT INTO flakeid_position (value, session) VALUES (used_up, 0);
  DELETE FROM flakeid_position WHERE value = used_up AND session = 0;
END $$

-- A procedure that has called a function keeps that version until the procedure ends, even if the function is
-- replaced or dropped. So flakeid_next names a column that the table has only while its node is in use. The change
-- waits for transactions that have taken IDs. For functions of earlier scripts, which name no columns, the column is
-- invisible until the node changes.
BEGIN NOT ATOMIC
  DECLARE old_column TEXT;
  SELECT MAX(COLUMN_NAME) INTO old_column FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'flakeid_position' AND COLUMN_NAME LIKE 'node%';
  IF old_column IS NULL THEN
    EXECUTE IMMEDIATE
      CONCAT('ALTER TABLE flakeid_position ADD node_{{node}} BIT', IF(@flakeid_is_new, '', ' INVISIBLE'));
  ELSEIF old_column <> 'node_{{node}}' THEN
    EXECUTE IMMEDIATE CONCAT('ALTER TABLE flakeid_position CHANGE ', old_column, ' node_{{node}} BIT');
  END IF;
END $$

-- Returns the next ID, which is larger than all earlier IDs. Waits, at most {{max_wait_ms}} ms, while the tick is full
-- or the clock is behind the latest ID. A default cannot call a function, so call it in the statement or in a trigger:
-- CREATE TRIGGER orders_id BEFORE INSERT ON orders FOR EACH ROW SET NEW.id = IF(NEW.id = 0, flakeid_next(), NEW.id)
--
-- In a subquery several rows may share an ID, because MariaDB caches the results of subqueries.
--
-- A rejected call uses up a place, so rejected calls can reach the slot of a later tick. A place becomes an ID only
-- when the clock has reached its tick.
CREATE OR REPLACE FUNCTION flakeid_next() RETURNS BIGINT NOT DETERMINISTIC MODIFIES SQL DATA
BEGIN
  DECLARE ms, tick, place, latest_ms, wait_ms BIGINT;
  DECLARE waited_ms BIGINT DEFAULT 0;
  DECLARE fault TEXT;
  -- The names are compared byte by byte: on Linux, Shop (a restored dump of shop) is another database than shop.
  IF BINARY DATABASE() <> BINARY '{{database_name}}' THEN
    SET fault = CONCAT('FLAKEID_FORKED: node {{node}} belongs to the database {{database_name}}, of which ', DATABASE(),
      ' is a copy; DROP FUNCTION flakeid_own_node and run the script for another node');
    SIGNAL SQLSTATE 'IDFRK' SET MESSAGE_TEXT = fault;
  END IF;
  LOOP
    -- NOW() is the start of the statement. SYSDATE() in the session's time zone would go backwards in autumn.
    {{read_clock}}
    IF ms < {{epoch_ms}} THEN
      SET fault = CONCAT('FLAKEID_BEFORE_EPOCH: the clock reads ', TIMESTAMPADD(MICROSECOND, ms * 1000,
        '1970-01-01 00:00:00.000'), ', which is before the layout''s epoch, {{epoch}}; set the clock');
      SIGNAL SQLSTATE 'IDEPO' SET MESSAGE_TEXT = fault;
    END IF;
    SET tick = {{clock_tick}};
    IF tick <= {{last_tick}} THEN
      INSERT INTO flakeid_position (session, node_{{node}}) VALUES (CONNECTION_ID(), NULL);
      SET place = LAST_INSERT_ID();
      DELETE FROM flakeid_position WHERE value = place AND session = CONNECTION_ID();
      IF place < tick << {{slot_bits}} THEN
        -- Raise the position to the slot of the clock's tick, unless other sessions have already reached or passed
        -- it.
        SET place = (tick << {{slot_bits}}) - 1;
        INSERT INTO flakeid_position (value, session) VALUES (place, CONNECTION_ID());
        DELETE FROM flakeid_position WHERE value = place AND session = CONNECTION_ID();
        INSERT INTO flakeid_position (session, node_{{node}}) VALUES (CONNECTION_ID(), NULL);
        SET place = LAST_INSERT_ID();
        DELETE FROM flakeid_position WHERE value = place AND session = CONNECTION_ID();
      END IF;
      IF place - (tick << {{slot_bits}}) < {{usable}} THEN
        RETURN {{id_of_place}};
      END IF;
      IF place & {{slot_mask}} < {{usable}} THEN
        -- The place is in the slot of a later tick. If other sessions opened that slot, the clock has reached it by
        -- now.
        {{read_clock}}
        IF place >> {{slot_bits}} <= {{clock_tick}} THEN
          RETURN {{id_of_place}};
        END IF;
      END IF;
      -- Wait for the tick of the place, or for the next tick.
      SET tick = (place >> {{slot_bits}}) + (place & {{slot_mask}} >= {{usable}});
    END IF;
    IF tick > {{last_tick}} THEN
      SET fault = CONCAT('FLAKEID_HORIZON_REACHED: the layout''s time field ran out at {{horizon}}; ',
        'old IDs still decode, new ones need another layout or a later epoch');
      SIGNAL SQLSTATE 'IDHOR' SET MESSAGE_TEXT = fault;
    END IF;
    SET wait_ms = {{epoch_ms}} + tick * {{unit_ms}} - ms;
    IF waited_ms + wait_ms > {{max_wait_ms}} THEN
      SET latest_ms = {{epoch_ms}} + (place >> {{slot_bits}}) * {{unit_ms}};
      IF {{first_tick_of_new}} >= tick THEN
        SET fault = CONCAT('FLAKEID_FENCE_IN_FUTURE: earlier users of node {{node}} may have used ticks ',
          'that are still ahead of the clock; the first ID comes in ', wait_ms, ' ms');
        SIGNAL SQLSTATE 'IDFNC' SET MESSAGE_TEXT = fault;
      ELSEIF latest_ms > ms THEN
        SET fault = CONCAT('FLAKEID_CLOCK_ROLLBACK: the clock went back: the latest ID is ', latest_ms - ms,
          ' ms ahead of it; no ID is issued until it has caught up (configure NTP to slew the clock, not to step it)');
        SIGNAL SQLSTATE 'IDCLK' SET MESSAGE_TEXT = fault;
      END IF;
      SET fault = CONCAT('FLAKEID_SEQUENCE_EXHAUSTED: every sequence number of the current tick is used up; ',
        'the next number is free in ', wait_ms, ' ms');
      SIGNAL SQLSTATE 'IDSEQ' SET MESSAGE_TEXT = fault;
    END IF;
    -- SLEEP returns at once if the statement is killed, but then the function also ends.
    DO SLEEP(wait_ms / 1000);
    SET waited_ms = waited_ms + wait_ms;
  END LOOP;
END $$

-- This is the last step, so that the script can be run again if an earlier step failed.
CREATE FUNCTION IF NOT EXISTS flakeid_own_node() RETURNS BIGINT DETERMINISTIC NO SQL
COMMENT 'node {{node}} of database {{database_name}}' RETURN {{node}} $$
