
-- Returns the digits of a text form other than uuid, the other characters that it accepts, and how many digits an ID has.
CREATE OR REPLACE PROCEDURE flakeid_form(IN form VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT alphabet VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT typed VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT meant VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, OUT fewest INT, OUT most INT)
DETERMINISTIC NO SQL
BEGIN
  CASE form
{{forms}}
  ELSE
    SIGNAL SQLSTATE 'IDOPT' SET MESSAGE_TEXT =
      'FLAKEID_INVALID_OPTION: text form: must be {{form_names}}';
  END CASE;
END $$

-- Returns an ID as text. The 64 bits are interpreted as unsigned.
CREATE OR REPLACE FUNCTION flakeid_text(id BIGINT, form VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)
RETURNS VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DETERMINISTIC NO SQL
BEGIN
  DECLARE alphabet, typed, meant, digits VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT '';
  DECLARE fewest, most, radix INT;
  DECLARE rest BIGINT UNSIGNED DEFAULT CAST(id AS UNSIGNED);
  IF id IS NULL OR form IS NULL THEN RETURN NULL; END IF;
  IF form = 'uuid' THEN
    SET digits = LOWER(HEX(flakeid_to_uuid(id)));
    RETURN INSERT(INSERT(INSERT(INSERT(digits, 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-');
  END IF;
  CALL flakeid_form(form, alphabet, typed, meant, fewest, most);
  SET radix = CHAR_LENGTH(alphabet);
  WHILE rest > 0 OR CHAR_LENGTH(digits) < fewest DO
    SET digits = CONCAT(SUBSTRING(alphabet, MOD(rest, radix) + 1, 1), digits), rest = rest DIV radix;
  END WHILE;
  RETURN digits;
END $$

-- Returns the ID that the digits represent; from 2^63 on it is negative as a BIGINT. Rejects everything that
-- flakeid_text never writes, except digits in the other case, Crockford's I, L and O, and leading zeros of a decimal
-- number.
CREATE OR REPLACE FUNCTION flakeid_parse(digits TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  form VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)
RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
  DECLARE alphabet, typed, meant VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE fewest, most, digit INT;
  DECLARE place INT DEFAULT 1;
  DECLARE letter VARCHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE number DECIMAL(65) DEFAULT 0;
  DECLARE fault TEXT CHARACTER SET utf8mb4;
  IF digits IS NULL OR form IS NULL THEN RETURN NULL; END IF;
  IF form = 'uuid' THEN
    -- The length is checked too, because `$` also matches before the end of a last line.
    IF CHAR_LENGTH(digits) = 36 AND digits REGEXP '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' THEN
      RETURN flakeid_from_uuid(UNHEX(REPLACE(digits, '-', '')));
    END IF;
    SET fault = CONCAT('a UUID must have 36 characters: hexadecimal digits in groups of 8, 4, 4, 4 and 12, ',
      'with hyphens between the groups');
  ELSE
    CALL flakeid_form(form, alphabet, typed, meant, fewest, most);
  END IF;
  IF CHAR_LENGTH(digits) NOT BETWEEN fewest AND most THEN
    SET fault = IF(fewest = most, CONCAT('the string must have exactly ', most, ' digits'),
      CONCAT('the string must have ', fewest, ' to ', most, ' digits'));
  ELSEIF fewest = 1 AND form <> 'decimal' AND CHAR_LENGTH(digits) > 1
    AND (LEFT(digits, 1) = LEFT(alphabet, 1)
      OR (LOCATE(LEFT(digits, 1), typed) > 0
        AND SUBSTRING(meant, LOCATE(LEFT(digits, 1), typed), 1) = LEFT(alphabet, 1))) THEN
    SET fault = 'the string must not begin with a zero digit';
  END IF;
  WHILE fault IS NULL AND place <= CHAR_LENGTH(digits) DO
    SET letter = SUBSTRING(digits, place, 1);
    IF LOCATE(letter, typed) > 0 THEN SET letter = SUBSTRING(meant, LOCATE(letter, typed), 1); END IF;
    SET digit = LOCATE(letter, alphabet) - 1, place = place + 1;
    IF digit < 0 THEN
      SET fault = CONCAT(QUOTE(letter), ' is not a valid digit in this text form');
    END IF;
    SET number = number * CHAR_LENGTH(alphabet) + digit;
  END WHILE;
  IF fault IS NULL AND number > 18446744073709551615 THEN
    SET fault = 'the number is larger than the largest 64-bit ID; an ID must be from 0 to 18446744073709551615';
  END IF;
  IF fault IS NOT NULL THEN
    SET fault = LEFT(CONCAT('FLAKEID_INVALID_ID: ', QUOTE(LEFT(digits, 64)), ' is not an ID in ', form, ': ', fault),
      {{longest_message}});
    SIGNAL SQLSTATE 'IDINV' SET MESSAGE_TEXT = fault;
  END IF;
  RETURN IF(number > 9223372036854775807, number - 18446744073709551616, number);
END $$
