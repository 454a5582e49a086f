CREATE TABLE IF NOT EXISTS flakeid_schema (version BIGINT NOT NULL PRIMARY KEY) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS flakeid_namespace (
    name VARCHAR(64) NOT NULL PRIMARY KEY,
    layout VARCHAR(255) NOT NULL,
    block_bits BIGINT NOT NULL CHECK (block_bits BETWEEN 0 AND 63),
    floor BIGINT NOT NULL CHECK (floor >= 0),
    quiet_until BIGINT NOT NULL,
    incarnation VARCHAR(255) NOT NULL,
    max_window_ms BIGINT NOT NULL CHECK (max_window_ms >= 0),
    max_ahead_ms BIGINT NOT NULL CHECK (max_ahead_ms >= 0),
    max_skew_ms BIGINT NOT NULL CHECK (max_skew_ms >= 0),
    quiet_ms BIGINT NOT NULL CHECK (quiet_ms >= 0),
    keeps_history BOOLEAN NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS flakeid_node (
    namespace VARCHAR(64) NOT NULL,
    node BIGINT NOT NULL CHECK (node >= 0),
    fence BIGINT NOT NULL,
    start BIGINT NOT NULL CHECK (start >= 0),
    token VARCHAR(32) CHECK (token REGEXP '^[0-9a-f]{32}$'),
    grant_number BIGINT NOT NULL CHECK (grant_number >= 0),
    state VARCHAR(16) NOT NULL CHECK (state IN ('free', 'held', 'quarantined')),
    owner_name VARCHAR(255) NOT NULL,
    owner_host VARCHAR(255) NOT NULL,
    owner_pid BIGINT NOT NULL CHECK (owner_pid BETWEEN 0 AND 4294967295),
    acquired BIGINT NOT NULL,
    renewed BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    incarnation VARCHAR(255) NOT NULL,
    fixed BOOLEAN NOT NULL,
    history_until BIGINT NOT NULL CHECK (history_until >= 0),
    PRIMARY KEY (namespace, node),
    KEY flakeid_node_coldest (namespace, fence, node),
    KEY flakeid_node_name (namespace, owner_name, fence, node),
    CONSTRAINT flakeid_node_namespace FOREIGN KEY (namespace)
        REFERENCES flakeid_namespace (name),
    CONSTRAINT flakeid_node_fence CHECK (fence >= start)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS flakeid_grant (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    namespace VARCHAR(64) NOT NULL,
    node BIGINT NOT NULL,
    grant_number BIGINT NOT NULL,
    start BIGINT NOT NULL,
    owner_name VARCHAR(255) NOT NULL,
    owner_host VARCHAR(255) NOT NULL,
    owner_pid BIGINT NOT NULL,
    acquired BIGINT NOT NULL,
    previous_until BIGINT NOT NULL,
    KEY flakeid_grant_start (namespace, node, start, grant_number),
    CONSTRAINT flakeid_grant_namespace FOREIGN KEY (namespace)
        REFERENCES flakeid_namespace (name)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS flakeid_sub_grant (
    namespace VARCHAR(64) NOT NULL,
    node BIGINT NOT NULL,
    start BIGINT NOT NULL,
    block_grant BIGINT NOT NULL,
    grant_number BIGINT NOT NULL,
    owner_name VARCHAR(255) NOT NULL,
    owner_host VARCHAR(255) NOT NULL,
    owner_pid BIGINT NOT NULL,
    acquired BIGINT NOT NULL,
    PRIMARY KEY (namespace, node, start, block_grant, grant_number),
    CONSTRAINT flakeid_sub_grant_namespace FOREIGN KEY (namespace)
        REFERENCES flakeid_namespace (name)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS flakeid_run (
    id BIGINT NOT NULL PRIMARY KEY,
    run CHAR(32) NOT NULL
) ENGINE = MEMORY CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TRIGGER flakeid_namespace_stays BEFORE DELETE ON flakeid_namespace FOR EACH ROW
SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'flakeid: DELETE of namespaces is refused';

CREATE TRIGGER flakeid_namespace_keeps BEFORE UPDATE ON flakeid_namespace FOR EACH ROW
IF NEW.name <> OLD.name OR NEW.layout <> OLD.layout
    OR NEW.block_bits <> OLD.block_bits OR NEW.floor < OLD.floor
    OR NEW.quiet_until < OLD.quiet_until THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
        'flakeid: the name, layout and block_bits of a namespace never change, and its floor never falls';
END IF;

CREATE TRIGGER flakeid_node_stays BEFORE DELETE ON flakeid_node FOR EACH ROW
SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'flakeid: DELETE of nodes is refused';

CREATE TRIGGER flakeid_node_keeps BEFORE UPDATE ON flakeid_node FOR EACH ROW
IF NEW.namespace <> OLD.namespace OR NEW.node <> OLD.node OR NEW.start < OLD.start
    OR NEW.fence < OLD.fence AND NOT (
        OLD.state = 'held' AND NEW.state = 'free' AND NEW.token IS NULL
        AND NEW.fence >= OLD.start AND NEW.start = OLD.start
    ) THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
        'flakeid: the node of a row never changes, and its fence falls only in a release';
END IF;

DROP TRIGGER IF EXISTS flakeid_grant_stays;

CREATE TRIGGER flakeid_grant_stays BEFORE DELETE ON flakeid_grant FOR EACH ROW
IF @flakeid_prune IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'flakeid: DELETE of history is refused';
END IF;

CREATE TRIGGER flakeid_grant_keeps BEFORE UPDATE ON flakeid_grant FOR EACH ROW
SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'flakeid: UPDATE of history is refused';

DROP TRIGGER IF EXISTS flakeid_sub_grant_stays;

CREATE TRIGGER flakeid_sub_grant_stays BEFORE DELETE ON flakeid_sub_grant FOR EACH ROW
IF @flakeid_prune IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'flakeid: DELETE of history is refused';
END IF;

CREATE TRIGGER flakeid_sub_grant_keeps BEFORE UPDATE ON flakeid_sub_grant FOR EACH ROW
SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'flakeid: UPDATE of history is refused';

INSERT IGNORE INTO flakeid_schema VALUES (4);
