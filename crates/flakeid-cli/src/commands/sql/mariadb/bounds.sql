
-- Returns the tick that contains an instant of UTC, clamped to the first and the last tick of the layout.
CREATE OR REPLACE FUNCTION flakeid_tick_at(instant DATETIME(6)) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN LEAST(GREATEST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00.000000', instant) - {{epoch_us}}, 0)
  DIV {{unit_us}}, {{max_tick}}) $$

-- Returns the smallest ID of the tick that contains an instant: WHERE id >= flakeid_min('2026-01-01').
CREATE OR REPLACE FUNCTION flakeid_min(instant DATETIME(6)) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN flakeid_tick_at(instant) << {{tick_shift}} $$

-- Returns the largest ID of the tick that contains an instant, inclusive: WHERE id <= flakeid_max('2026-01-31').
CREATE OR REPLACE FUNCTION flakeid_max(instant DATETIME(6)) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN flakeid_tick_at(instant) << {{tick_shift}} | {{below_tick}} $$
