
-- Rejects a number that is not an ID of this layout, because decoding it would lose bits.
CREATE OR REPLACE FUNCTION flakeid_refuse(id BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
  DECLARE fault TEXT DEFAULT LEFT(CONCAT('FLAKEID_INVALID_ID: ', id,
    ' is not an ID of the layout {{descriptor}}: it has bits set outside that layout''s fields'), {{longest_message}});
  SIGNAL SQLSTATE 'IDINV' SET MESSAGE_TEXT = fault;
  RETURN NULL;
END $$

-- Returns the tick: the time field.
CREATE OR REPLACE FUNCTION flakeid_tick(id BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN IF(id & {{stray}} <> 0, flakeid_refuse(id), {{tick_of_id}}) $$

-- Returns the time of the tick in Unix milliseconds.
CREATE OR REPLACE FUNCTION flakeid_unix_ms(id BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN {{epoch_ms}} + flakeid_tick(id) * {{unit_ms}} $$

-- Returns the time at which the tick of an ID begins, in UTC; NULL after the year 9999, where DATETIME ends.
CREATE OR REPLACE FUNCTION flakeid_time(id BIGINT) RETURNS DATETIME(3) DETERMINISTIC NO SQL
BEGIN
  DECLARE ms BIGINT DEFAULT flakeid_unix_ms(id);
  -- Days and the remainder are added separately, because the number of microseconds would be too large.
  RETURN IF(ms < 253402300800000, TIMESTAMPADD(MICROSECOND, MOD(ms, 86400000) * 1000,
    TIMESTAMPADD(DAY, ms DIV 86400000, '1970-01-01 00:00:00.000')), NULL);
END $$
