  SELECT MAX(ROUTINE_COMMENT) INTO installed FROM information_schema.ROUTINES
    WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_NAME = 'flakeid_own_node';
  SET @flakeid_is_new = installed IS NULL;
  IF BINARY installed <> BINARY CONCAT('node {{node}} of database ', DATABASE()) THEN
    SET fault = CONCAT('FLAKEID_INVALID_OPTION: node: this is database ', DATABASE(),
      ' and node {{node}}; the functions are installed for ', installed,
      '; if those are no longer in use, DROP FUNCTION flakeid_own_node and run the script again');
    SIGNAL SQLSTATE 'IDOPT' SET MESSAGE_TEXT = fault;
  END IF;
