
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_{{field}}(id bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
BEGIN
  IF id & {{stray}} <> 0 THEN PERFORM {{schema}}.flakeid_refuse(id); END IF;
  RETURN {{field_of_id}};
END $body$;
