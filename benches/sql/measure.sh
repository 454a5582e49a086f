#!/bin/sh
# Compares inserts into tables whose default is flakeid_next() with the same tables with a bare sequence, in one run.
# Usage: measure.sh FLAKEID PORT, where FLAKEID is the command and a PostgreSQL without passwords listens on PORT
# of 127.0.0.1 with a superuser postgres. Creates the database flakeid_bench again. Prints rows per second.
set -eu
flakeid=$1
export PGHOST=127.0.0.1 PGPORT="$2" PGUSER=postgres PGDATABASE=flakeid_bench
seconds=${SECONDS_EACH:-5}
rounds=${ROUNDS:-3}
dir=$(mktemp -d)
holder=
trap 'if [ -n "$holder" ]; then kill "$holder"; fi; rm -rf "$dir"' EXIT

psql -Xqd postgres -c 'DROP DATABASE IF EXISTS flakeid_bench' -c 'CREATE DATABASE flakeid_bench'
"$flakeid" sql --dialect postgres --layout twitter --node 7 | psql -Xq
psql -Xq <<'SQL'
CREATE SEQUENCE bare;
CREATE TABLE bare_rows (id bigint DEFAULT nextval('bare') PRIMARY KEY, x int);
CREATE TABLE flakeid_rows (id bigint DEFAULT flakeid_next() PRIMARY KEY, x int);

-- What Instagram described in 2012: milliseconds, a shard, and a sequence modulo 1,024. It knows neither a clock
-- that goes back nor more than 1,024 IDs in a millisecond, which it repeats.
CREATE SEQUENCE shard_sequence;
CREATE FUNCTION shard_id() RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
  ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
BEGIN
  RETURN ((ms - 1314220021721) << 23) | (5 << 10) | (nextval('shard_sequence') % 1024);
END $body$;
CREATE TABLE shard_rows (id bigint DEFAULT shard_id() PRIMARY KEY, x int);
SQL

echo 'INSERT INTO bare_rows (x) VALUES (1);' > "$dir/bare-1.sql"
echo 'INSERT INTO flakeid_rows (x) VALUES (1);' > "$dir/next-1.sql"
echo 'INSERT INTO shard_rows (x) VALUES (1);' > "$dir/shard-1.sql"
echo 'SELECT flakeid_next();' > "$dir/call.sql"
echo 'SELECT count(*) FROM flakeid_next_n(1000);' > "$dir/calls.sql"
echo 'INSERT INTO bare_rows (x) SELECT generate_series(1, 1000);' > "$dir/bare-1000.sql"
echo 'INSERT INTO flakeid_rows (x) SELECT generate_series(1, 1000);' > "$dir/next-1000.sql"
echo 'INSERT INTO flakeid_rows (id, x) SELECT id, 1 FROM flakeid_next_n(1000) id;' > "$dir/next_n-1000.sql"

measure() { # label, file, rows a transaction, sessions
    psql -Xqc 'TRUNCATE bare_rows, flakeid_rows, shard_rows' -c CHECKPOINT
    tps=$(pgbench -n -M prepared -c "$4" -j 2 -T "$seconds" -f "$dir/$2.sql" 2>/dev/null |
        sed -n 's/^tps = \([0-9.]*\) (without.*/\1/p')
    echo "$4 sessions, $1: $(echo "$tps * $3 / 1" | bc) rows/s"
}

# A transaction that has taken an ID and stays open during the measurement.
beside_an_open_transaction() {
    printf 'BEGIN;\nSELECT flakeid_next();\nSELECT pg_sleep(3600);\n' | psql -Xq > "$dir/holder" 2>&1 &
    holder=$!
    until [ -n "$(psql -XAtqc "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'")" ]; do sleep 0.1; done
    "$@"
    psql -XAtqc "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'" > /dev/null
    wait "$holder" || true
    holder=
}

for durability in on off; do
    export PGOPTIONS="-c synchronous_commit=$durability"
    for round in $(seq "$rounds"); do
        echo "synchronous_commit=$durability, round $round"
        for sessions in 1 16; do
            measure 'bare default' bare-1 1 "$sessions"
            measure 'flakeid_next() default' next-1 1 "$sessions"
            measure 'shard_id() default' shard-1 1 "$sessions"
            beside_an_open_transaction measure 'flakeid_next() default, next to an open transaction' next-1 1 "$sessions"
            measure 'flakeid_next(), the call alone' call 1 "$sessions"
            measure 'flakeid_next_n(1000), the call alone' calls 1000 "$sessions"
            measure 'bare default, 1000 rows' bare-1000 1000 "$sessions"
            measure 'flakeid_next() default, 1000 rows' next-1000 1000 "$sessions"
            measure 'flakeid_next_n(1000)' next_n-1000 1000 "$sessions"
        done
    done
done
