-- flakeid {{version}}, dialect {{dialect}} ({{server}})
-- layout {{descriptor}}{{header_node}}
--
-- Functions for IDs of this layout in {{target}}, for the client `mariadb` or `mysql`, which knows
-- DELIMITER. The script may be run again. If the functions are installed for another layout or another node, it
-- stops with an error before it changes anything. Times are DATETIME in UTC.
{{use}}SET @flakeid_sql_mode = @@SESSION.sql_mode, SESSION sql_mode = 'STRICT_ALL_TABLES';
DELIMITER $$

{{guard_begin}}
  DECLARE installed TEXT;
  DECLARE fault TEXT;
  SELECT MAX(ROUTINE_COMMENT) INTO installed FROM information_schema.ROUTINES
    WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_NAME = 'flakeid_layout';
  IF installed <> '{{descriptor}}' THEN
    SET fault = LEFT(CONCAT('FLAKEID_INVALID_OPTION: layout: this database has the functions of the layout ',
      installed, '; install each layout in its own database'), {{longest_message}});
    SIGNAL SQLSTATE 'IDOPT' SET MESSAGE_TEXT = fault;
  END IF;
{{guard_node}}END $$
{{guard_end}}
CREATE OR REPLACE FUNCTION flakeid_layout() RETURNS VARCHAR(255) DETERMINISTIC NO SQL
COMMENT '{{descriptor}}' RETURN '{{descriptor}}' $$

CREATE OR REPLACE FUNCTION flakeid_version() RETURNS VARCHAR(255) DETERMINISTIC NO SQL RETURN '{{version}}' $$
