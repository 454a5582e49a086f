-- flakeid {{version}}, dialect postgres (PostgreSQL 13 or later)
-- layout {{descriptor}}{{header_node}}
--
-- Functions for IDs of this layout in the schema {{schema}}. The script is one statement: it takes effect as a
-- whole or not at all, in your own transaction or by itself, and may be run again. If the functions are
-- installed for another layout or another node, it raises an error and changes nothing.
DO $flakeid$
BEGIN
IF to_regprocedure('{{schema}}.flakeid_layout()') IS NOT NULL THEN
  IF {{schema}}.flakeid_layout() <> '{{descriptor}}' THEN
    RAISE EXCEPTION USING ERRCODE = 'IDOPT', MESSAGE = format(
      'FLAKEID_INVALID_OPTION: layout: the schema %s has the functions of the layout %s, not {{descriptor}}',
      '{{schema}}', {{schema}}.flakeid_layout()),
      HINT = 'Install each layout in its own schema (--schema).';
  END IF;
END IF;
{{guard_node}}
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_layout() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$ SELECT '{{descriptor}}'::text $body$;

CREATE OR REPLACE FUNCTION {{schema}}.flakeid_version() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$ SELECT '{{version}}'::text $body$;
