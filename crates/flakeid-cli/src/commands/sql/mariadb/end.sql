
DELIMITER ;
SET SESSION sql_mode = @flakeid_sql_mode;
