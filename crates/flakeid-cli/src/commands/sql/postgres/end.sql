END $flakeid$;
