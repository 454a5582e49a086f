#!/bin/sh
# Inserts into tables whose default is flakeid_next(), beside the same tables with a bare sequence, in one run.
# Usage: measure.sh FLAKEID PORT, where FLAKEID is the command and a PostgreSQL without passwords listens on PORT
# of 127.0.0.1 with a superuser postgres. Makes a database flakeid_bench anew. Prints rows a second.
set -eu
flakeid=$1
export PGHOST=127.0.0.1 PGPORT="$2" PGUSER=postgres PGDATABASE=flakeid_bench
seconds=${SECONDS_EACH:-5}
rounds=${ROUNDS:-3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

psql -Xqd postgres -c 'DROP DATABASE IF EXISTS flakeid_bench' -c 'CREATE DATABASE flakeid_bench'
"$flakeid" sql --dialect postgres --layout twitter --node 7 | psql -Xq
psql -Xq <<'SQL'
CREATE SEQUENCE bare;
CREATE TABLE bare_rows (id bigint DEFAULT nextval('bare') PRIMARY KEY, x int);
CREATE TABLE flakeid_rows (id bigint DEFAULT flakeid_next() PRIMARY KEY, x int);
SQL

echo 'INSERT INTO bare_rows (x) VALUES (1);' > "$dir/bare-1.sql"
echo 'INSERT INTO flakeid_rows (x) VALUES (1);' > "$dir/next-1.sql"
echo 'INSERT INTO bare_rows (x) SELECT generate_series(1, 1000);' > "$dir/bare-1000.sql"
echo 'INSERT INTO flakeid_rows (x) SELECT generate_series(1, 1000);' > "$dir/next-1000.sql"
echo 'INSERT INTO flakeid_rows (id, x) SELECT id, 1 FROM flakeid_next_n(1000) id;' > "$dir/next_n-1000.sql"

measure() { # label, file, rows a transaction, sessions
    psql -Xqc 'TRUNCATE bare_rows, flakeid_rows' -c CHECKPOINT
    tps=$(pgbench -n -M prepared -c "$4" -j 2 -T "$seconds" -f "$dir/$2.sql" 2>/dev/null |
        sed -n 's/^tps = \([0-9.]*\) (without.*/\1/p')
    echo "$4 sessions, $1: $(echo "$tps * $3 / 1" | bc) rows/s"
}

for durability in on off; do
    export PGOPTIONS="-c synchronous_commit=$durability"
    for round in $(seq "$rounds"); do
        echo "synchronous_commit=$durability, round $round"
        for sessions in 1 16; do
            measure 'bare default' bare-1 1 "$sessions"
            measure 'flakeid_next() default' next-1 1 "$sessions"
            measure 'bare default, 1000 rows' bare-1000 1000 "$sessions"
            measure 'flakeid_next() default, 1000 rows' next-1000 1000 "$sessions"
            measure 'flakeid_next_n(1000)' next_n-1000 1000 "$sessions"
        done
    done
done
