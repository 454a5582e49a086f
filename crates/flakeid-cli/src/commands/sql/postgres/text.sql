
-- Returns the digits of a text form other than uuid, the other characters that it accepts, and how many digits an ID has.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_form(
  form text, OUT alphabet text, OUT typed text, OUT meant text, OUT fewest int, OUT most int)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
BEGIN
  CASE form
{{forms}}
  ELSE
    RAISE EXCEPTION USING ERRCODE = 'IDOPT',
      MESSAGE = 'FLAKEID_INVALID_OPTION: text form: must be {{form_names}}';
  END CASE;
END $body$;

-- Returns an ID as text. The 64 bits are interpreted as unsigned.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_text(id bigint, form text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
  f record;
  radix bigint;
  rest bigint := id;
  digits text := '';
BEGIN
  IF form = 'uuid' THEN RETURN {{schema}}.flakeid_to_uuid(id); END IF;
  f := {{schema}}.flakeid_form(form);
  radix := length(f.alphabet);
  IF id < 0 THEN
    digits := substr(f.alphabet, mod(id + 18446744073709551616, radix)::int + 1, 1);
    rest := div(id + 18446744073709551616, radix);
  END IF;
  WHILE rest > 0 OR length(digits) < f.fewest LOOP
    digits := substr(f.alphabet, (rest % radix)::int + 1, 1) || digits;
    rest := rest / radix;
  END LOOP;
  RETURN digits;
END $body$;

-- Returns the ID that the digits represent; from 2^63 on it is negative as a bigint. Rejects everything that
-- flakeid_text never writes, except digits in the other case, Crockford's I, L and O, and leading zeros of a decimal
-- number.
CREATE OR REPLACE FUNCTION {{schema}}.flakeid_parse(digits text, form text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
  f record;
  plain text;
  number numeric := 0;
  digit int;
  fault text;
BEGIN
  IF form = 'uuid' THEN
    IF digits ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' THEN
      RETURN {{schema}}.flakeid_from_uuid(digits::uuid);
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'IDINV', MESSAGE = format('FLAKEID_INVALID_ID: %s is not an ID in uuid: a UUID '
      'must have 36 characters: hexadecimal digits in groups of 8, 4, 4, 4 and 12, with hyphens between the groups',
      quote_literal(left(digits, 64)));
  END IF;
  f := {{schema}}.flakeid_form(form);
  plain := translate(digits, f.typed, f.meant);
  IF length(plain) NOT BETWEEN f.fewest AND f.most THEN
    fault := CASE WHEN f.fewest = f.most THEN format('the string must have exactly %s digits', f.most)
      ELSE format('the string must have %s to %s digits', f.fewest, f.most) END;
  ELSIF f.fewest = 1 AND form <> 'decimal' AND length(plain) > 1 AND left(plain, 1) = left(f.alphabet, 1) THEN
    fault := 'the string must not begin with a zero digit';
  ELSE
    FOR place IN 1 .. length(plain) LOOP
      digit := strpos(f.alphabet, substr(plain, place, 1)) - 1;
      IF digit < 0 THEN
        fault := format('%s is not a valid digit in this text form', quote_literal(substr(digits, place, 1)));
        EXIT;
      END IF;
      number := number * length(f.alphabet) + digit;
    END LOOP;
    IF number >= 18446744073709551616 THEN
      fault := 'the number is larger than the largest 64-bit ID; an ID must be from 0 to 18446744073709551615';
    END IF;
  END IF;
  IF fault IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'IDINV', MESSAGE =
      format('FLAKEID_INVALID_ID: %s is not an ID in %s: %s', quote_literal(left(digits, 64)), form, fault);
  END IF;
  RETURN CASE WHEN number >= 9223372036854775808 THEN number - 18446744073709551616 ELSE number END;
END $body$;
