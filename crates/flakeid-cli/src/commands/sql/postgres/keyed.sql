
-- The domains of public IDs, with the keys that seal and open their IDs: for each letter the 27 round keys of
-- Speck64/128, the current letter last. The keys of the keyring cannot be computed from the round keys.
CREATE TABLE IF NOT EXISTS {{schema}}.flakeid_domain (
  name text PRIMARY KEY,
  prefix text NOT NULL,
  first_id bigint NOT NULL,
  letters text NOT NULL,
  round_keys bigint[] NOT NULL
);

-- Returns the round keys of a key of four words, as defined by Speck64/128 (https://eprint.iacr.org/2013/404).
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_round_keys(words bigint[]) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
  rest bigint[] := words[2:4];
  round_key bigint := words[1];
  round_keys bigint[] := '{}';
  turn int;
BEGIN
  FOR number IN 0 .. 26 LOOP
    round_keys := round_keys || round_key;
    turn := number % 3 + 1;
    rest[turn] := ((((rest[turn] >> 8) | (rest[turn] << 24)) + round_key) & 4294967295) # number::bigint;
    round_key := (((round_key << 3) | (round_key >> 29)) & 4294967295) # rest[turn];
  END LOOP;
  RETURN round_keys;
END $body$;

CREATE OR REPLACE FUNCTION {{schema}}.flakeid_encrypt(block bigint, round_keys bigint[]) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
  high bigint := (block >> 32) & 4294967295;
  low bigint := block & 4294967295;
  round_key bigint;
BEGIN
  FOREACH round_key IN ARRAY round_keys LOOP
    high := ((((high >> 8) | (high << 24)) + low) & 4294967295) # round_key;
    low := (((low << 3) | (low >> 29)) & 4294967295) # high;
  END LOOP;
  RETURN (high << 32) | low;
END $body$;

CREATE OR REPLACE FUNCTION {{schema}}.flakeid_decrypt(block bigint, round_keys bigint[]) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
  high bigint := (block >> 32) & 4294967295;
  low bigint := block & 4294967295;
BEGIN
  FOR number IN REVERSE 27 .. 1 LOOP
    low := low # high;
    low := ((low >> 3) | (low << 29)) & 4294967295;
    high := ((high # round_keys[number]) - low) & 4294967295;
    high := ((high << 8) | (high >> 24)) & 4294967295;
  END LOOP;
  RETURN (high << 32) | low;
END $body$;

-- Returns the round keys of a domain. Its key consists of two CBC-MACs of its name, with the length first.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_domain_keys(key bytea, domain text) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
  name bytea := convert_to(domain, 'UTF8');
  words bigint[] := '{}';
  own bigint[];
  code bigint;
  part bigint;
BEGIN
  FOR word IN 0 .. 3 LOOP
    words := words || (get_byte(key, word * 4)::bigint | (get_byte(key, word * 4 + 1)::bigint << 8)
      | (get_byte(key, word * 4 + 2)::bigint << 16) | (get_byte(key, word * 4 + 3)::bigint << 24));
  END LOOP;
  own := {{schema}}.flakeid_round_keys(words);
  words := '{}';
  FOR number IN 1 .. 2 LOOP
    code := {{schema}}.flakeid_encrypt((number::bigint << 32) | length(name), own);
    FOR block IN 0 .. (length(name) - 1) / 8 LOOP
      part := 0;
      FOR place IN block * 8 .. least(block * 8 + 7, length(name) - 1) LOOP
        part := part | (get_byte(name, place)::bigint << (place % 8 * 8));
      END LOOP;
      code := {{schema}}.flakeid_encrypt(code # part, own);
    END LOOP;
    words := words || (code & 4294967295) || ((code >> 32) & 4294967295);
  END LOOP;
  RETURN {{schema}}.flakeid_round_keys(words);
END $body$;

-- Adds a domain, or replaces its keys, prefix and first instant. "keyring" is the content of a file of `flakeid
-- keygen`.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_add_domain(
  domain text, keyring text, prefix text DEFAULT NULL, since timestamptz DEFAULT '-infinity') RETURNS void
LANGUAGE plpgsql AS $body$
DECLARE
  line record;
  words text[];
  all_letters text := '';
  all_keys bigint[] := '{}';
  fault text;
BEGIN
  IF domain IS NULL OR length(convert_to(domain, 'UTF8')) NOT BETWEEN 1 AND 64 THEN
    fault := 'domain: must have from 1 to 64 bytes';
  ELSIF prefix !~ '^[a-z][a-z0-9]{0,15}$' THEN
    fault := format('prefix: %s must have 1 to 16 lowercase letters and digits, and begin with a letter',
      quote_literal(left(prefix, 64)));
  ELSIF since IS NULL THEN
    fault := 'since: must be an instant; omit it for the layout''s epoch';
  END IF;
  FOR line IN SELECT number, text FROM regexp_split_to_table(keyring, '\n') WITH ORDINALITY lines(text, number) LOOP
    EXIT WHEN fault IS NOT NULL;
    words := regexp_split_to_array(btrim(line.text, E' \t\r\f'), '\s+');
    CONTINUE WHEN words[1] = '' OR left(words[1], 1) = '#';
    -- The message does not contain the line, because that may be a mistyped key.
    IF cardinality(words) <> 2 OR words[1] !~ '^[a-z]$' OR words[2] !~ '^[0-9A-Fa-f]{32}$' THEN
      fault := format('keyring: line %s: must have a letter from a to z and 32 hexadecimal digits', line.number);
    ELSIF strpos(all_letters, words[1]) > 0 THEN
      fault := format('keyring: line %s: the letter %s belongs to two keys; each needs its own', line.number, words[1]);
    ELSE
      all_letters := all_letters || words[1];
      all_keys := all_keys || {{schema}}.flakeid_domain_keys(decode(words[2], 'hex'), domain);
    END IF;
  END LOOP;
  IF fault IS NULL AND all_letters = '' THEN
    fault := 'keyring: has no key; create one with `flakeid keygen`';
  END IF;
  IF fault IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'IDOPT', MESSAGE = 'FLAKEID_INVALID_OPTION: ' || fault;
  END IF;
  INSERT INTO {{schema}}.flakeid_domain VALUES (
    domain, coalesce(prefix || '_', ''), {{schema}}.flakeid_min(since), all_letters, all_keys)
  ON CONFLICT (name) DO UPDATE SET prefix = excluded.prefix, first_id = excluded.first_id,
    letters = excluded.letters, round_keys = excluded.round_keys;
END $body$;

CREATE OR REPLACE FUNCTION {{schema}}.flakeid_known_domain(domain text) RETURNS {{schema}}.flakeid_domain
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $body$
DECLARE
  known {{schema}}.flakeid_domain;
BEGIN
  SELECT * INTO known FROM {{schema}}.flakeid_domain WHERE name = domain;
  IF NOT FOUND THEN
    RAISE EXCEPTION USING ERRCODE = 'IDOPT', MESSAGE = format(
      'FLAKEID_INVALID_OPTION: domain: %s does not exist; its owner can add it with {{schema}}.flakeid_add_domain',
      quote_literal(left(domain, 64)));
  END IF;
  RETURN known;
END $body$;

-- Returns the public form of an ID.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_seal(id bigint, domain text) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
  known {{schema}}.flakeid_domain := {{schema}}.flakeid_known_domain(domain);
  keys int := length(known.letters);
BEGIN
  IF id & {{stray}} <> 0 THEN PERFORM {{schema}}.flakeid_refuse(id); END IF;
  RETURN known.prefix || right(known.letters, 1) || lpad({{schema}}.flakeid_text({{schema}}.flakeid_encrypt(
    id, known.round_keys[keys * 27 - 26 : keys * 27]), 'base58'), 11, '1');
END $body$;

-- Returns the ID of a public ID, for a clock that reads the given Unix milliseconds.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_open_at(public_id text, domain text, unix_ms bigint) RETURNS bigint
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
  known {{schema}}.flakeid_domain := {{schema}}.flakeid_known_domain(domain);
  body text := substr(public_id, length(known.prefix) + 1);
  key int := strpos(known.letters, left(body, 1));
  id bigint;
BEGIN
  IF left(public_id, length(known.prefix)) = known.prefix AND length(body) = 12 AND key > 0 THEN
    BEGIN
      id := {{schema}}.flakeid_parse(coalesce(nullif(ltrim(substr(body, 2), '1'), ''), '1'), 'base58');
      id := {{schema}}.flakeid_decrypt(id, known.round_keys[key * 27 - 26 : key * 27]);
    EXCEPTION WHEN SQLSTATE 'IDINV' THEN
      id := NULL;
    END;
    IF id & {{stray}} = 0 AND id >= known.first_id
      AND {{epoch_ms}} + {{schema}}.flakeid_tick(id) * {{unit_ms}} <= unix_ms + 60000 THEN
      RETURN id;
    END IF;
  END IF;
  RAISE EXCEPTION USING ERRCODE = 'IDINV', MESSAGE = format(
    'FLAKEID_INVALID_ID: %s is not a public ID of this domain', quote_literal(left(public_id, 64)));
END $body$;

-- Returns the ID of a public ID. The error does not reveal why a string is rejected.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_open(public_id text, domain text) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
  RETURN {{schema}}.flakeid_open_at(public_id, domain, floor(date_part('epoch', clock_timestamp()) * 1000)::bigint);
END $body$;

REVOKE EXECUTE ON FUNCTION {{schema}}.flakeid_add_domain(text, text, text, timestamptz) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION {{schema}}.flakeid_seal(bigint, text) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION {{schema}}.flakeid_open_at(text, text, bigint) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION {{schema}}.flakeid_open(text, text) FROM PUBLIC;
