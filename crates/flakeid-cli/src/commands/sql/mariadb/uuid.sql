
-- Returns an ID as the 16 bytes of a UUID of version 8 (RFC 9562, section 5.8), for a column of the type BINARY(16) or
-- UUID. It has the 64 bits of the ID, in order, around the version and the variant, and then two one bits and `flakeid`
-- in ASCII. The bytes sort like the unsigned ID.
CREATE OR REPLACE FUNCTION flakeid_to_uuid(id BIGINT) RETURNS BINARY(16) DETERMINISTIC NO SQL
RETURN UNHEX(CONCAT(INSERT(LEFT(LPAD(HEX(id), 16, '0'), 15), 13, 0, '8'), HEX(131 | ((id & 15) << 2)),
  '666C616B656964')) $$

-- Returns the ID in a UUID that flakeid_to_uuid returned; from 2^63 on it is negative as a BIGINT. The UUID is 16 bytes
-- or 36 characters. Rejects all other UUIDs.
CREATE OR REPLACE FUNCTION flakeid_from_uuid(value VARBINARY(255)) RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
  DECLARE digits, shown VARCHAR(80) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE number DECIMAL(65);
  DECLARE fault TEXT CHARACTER SET utf8mb4;
  IF value IS NULL THEN RETURN NULL; END IF;
  -- Each pair of digits is the code of a character: 0 to 9, A to F, a to f, or a hyphen.
  IF LENGTH(value) = 36
    AND HEX(value) REGEXP '^((3[0-9]|[46][1-6]){8}2D)((3[0-9]|[46][1-6]){4}2D){3}(3[0-9]|[46][1-6]){12}$' THEN
    SET digits = UPPER(REPLACE(CONVERT(value USING utf8mb4), '-', ''));
  ELSEIF LENGTH(value) = 16 THEN
    SET digits = HEX(value);
  END IF;
  IF digits IS NULL THEN
    SET shown = CONCAT('0x', HEX(LEFT(value, 20))),
      fault = 'a UUID must be 16 bytes, or 36 characters: hexadecimal digits in groups of 8, 4, 4, 4 and 12';
  ELSEIF digits REGEXP '^.{12}8.{3}[89AB][37BF]666C616B656964$' THEN
    SET number = CAST(CONV(CONCAT(LEFT(digits, 12), SUBSTRING(digits, 14, 3),
      HEX((CAST(CONV(SUBSTRING(digits, 17, 2), 16, 10) AS UNSIGNED) >> 2) & 15)), 16, 10) AS UNSIGNED);
    RETURN IF(number > 9223372036854775807, number - 18446744073709551616, number);
  ELSE
    SET shown = LOWER(INSERT(INSERT(INSERT(INSERT(digits, 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')),
      fault = CONCAT('the UUID ', CASE
        WHEN SUBSTRING(digits, 17, 1) NOT REGEXP '[89AB]' THEN 'does not have the variant of RFC 9562'
        WHEN SUBSTRING(digits, 13, 1) <> '8' THEN CONCAT('has version ', CONV(SUBSTRING(digits, 13, 1), 16, 10),
          ', but an ID requires version 8')
        ELSE 'has version 8, but its last 58 bits are not those of flakeid''s UUIDs, which end with 66-6c616b656964'
        END, '; flakeid did not create it, so it contains no ID');
  END IF;
  SET fault = LEFT(CONCAT('FLAKEID_INVALID_ID: ', shown, ' is not an ID in uuid: ', fault), {{longest_message}});
  SIGNAL SQLSTATE 'IDINV' SET MESSAGE_TEXT = fault;
END $$
