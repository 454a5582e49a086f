#!/bin/sh
# Compares inserts into a MariaDB with flakeid_next(), in the statement and in a trigger, with a bare sequence, in one run.
# Usage: measure-mariadb.sh FLAKEID SOCKET, where FLAKEID is the command and a MariaDB listens on SOCKET, whose root
# has no password. Creates the database flakeid_bench again. Prints rows per second.
set -eu
flakeid=$1
socket=$2
rounds=${ROUNDS:-3}
# Statements in a measurement of single rows; a hundredth of it for 1,000 rows each.
queries=${QUERIES:-5000}

client() { mariadb --no-defaults -u root --socket="$socket" "$@"; }

client -e 'CREATE OR REPLACE DATABASE flakeid_bench'
"$flakeid" sql --dialect mariadb --layout twitter --node 7 --schema flakeid_bench | client
client flakeid_bench <<'SQL'
CREATE SEQUENCE bare;
CREATE TABLE bare_rows (id BIGINT DEFAULT NEXTVAL(bare) PRIMARY KEY, x INT);
CREATE TABLE flakeid_rows (id BIGINT PRIMARY KEY, x INT);
CREATE TABLE trigger_rows (id BIGINT DEFAULT 0 PRIMARY KEY, x INT);
CREATE TRIGGER trigger_rows_id BEFORE INSERT ON trigger_rows
  FOR EACH ROW SET NEW.id = IF(NEW.id = 0, flakeid_next(), NEW.id);
SQL

measure() { # label, statement, rows a statement, sessions, statements
    client flakeid_bench -e 'TRUNCATE bare_rows; TRUNCATE flakeid_rows; TRUNCATE trigger_rows'
    seconds=$(mariadb-slap --no-defaults -u root --socket="$socket" --create-schema=flakeid_bench --no-drop \
        --concurrency="$4" --number-of-queries="$5" --query="$2" --csv | cut -d, -f3)
    echo "$4 sessions, $1: $(echo "$5 * $3 / $seconds" | bc) rows/s"
}

for durability in 1 0; do
    client -e "SET GLOBAL innodb_flush_log_at_trx_commit = $durability"
    for round in $(seq "$rounds"); do
        echo "innodb_flush_log_at_trx_commit=$durability, round $round"
        for sessions in 1 16; do
            many=$((queries / 100))
            measure 'bare default' 'INSERT INTO bare_rows (x) VALUES (1)' 1 "$sessions" "$queries"
            measure 'flakeid_next()' 'INSERT INTO flakeid_rows VALUES (flakeid_next(), 1)' 1 "$sessions" "$queries"
            measure 'trigger' 'INSERT INTO trigger_rows (x) VALUES (1)' 1 "$sessions" "$queries"
            measure 'bare default, 1000 rows' \
                'INSERT INTO bare_rows (x) SELECT seq FROM seq_1_to_1000' 1000 "$sessions" "$many"
            measure 'flakeid_next(), 1000 rows' \
                'INSERT INTO flakeid_rows SELECT flakeid_next(), seq FROM seq_1_to_1000' 1000 "$sessions" "$many"
        done
    done
done
client -e 'SET GLOBAL innodb_flush_log_at_trx_commit = 1'
