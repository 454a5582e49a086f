
CREATE OR REPLACE FUNCTION flakeid_{{field}}(id BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN IF(id & {{stray}} <> 0, flakeid_refuse(id), {{field_of_id}}) $$
