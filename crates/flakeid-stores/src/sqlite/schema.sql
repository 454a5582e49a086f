CREATE TABLE flakeid_meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    version INTEGER NOT NULL,
    serial INTEGER NOT NULL,
    run TEXT NOT NULL,
    inode TEXT NOT NULL,
    forgot_at INTEGER
) STRICT;
CREATE TABLE flakeid_namespace (
    name TEXT PRIMARY KEY,
    layout TEXT NOT NULL,
    block_bits INTEGER NOT NULL,
    floor INTEGER NOT NULL,
    quiet_until INTEGER NOT NULL,
    incarnation TEXT NOT NULL,
    max_window_ms INTEGER NOT NULL,
    max_ahead_ms INTEGER NOT NULL,
    max_skew_ms INTEGER NOT NULL,
    quiet_ms INTEGER NOT NULL,
    keeps_history INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE flakeid_node (
    namespace TEXT NOT NULL,
    node INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    start INTEGER NOT NULL,
    token TEXT,
    grant_number INTEGER NOT NULL,
    state TEXT NOT NULL,
    owner_name TEXT NOT NULL,
    owner_host TEXT NOT NULL,
    owner_pid INTEGER NOT NULL,
    acquired INTEGER NOT NULL,
    renewed INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    incarnation TEXT NOT NULL,
    fixed INTEGER NOT NULL,
    history_until INTEGER NOT NULL,
    PRIMARY KEY (namespace, node)
) STRICT, WITHOUT ROWID;
CREATE INDEX flakeid_node_coldest ON flakeid_node (namespace, fence, node);
CREATE INDEX flakeid_node_taken ON flakeid_node (namespace, node);
CREATE TABLE flakeid_grant (
    namespace TEXT NOT NULL,
    node INTEGER NOT NULL,
    grant_number INTEGER NOT NULL,
    start INTEGER NOT NULL,
    owner_name TEXT NOT NULL,
    owner_host TEXT NOT NULL,
    owner_pid INTEGER NOT NULL,
    acquired INTEGER NOT NULL,
    previous_until INTEGER NOT NULL,
    PRIMARY KEY (namespace, node, grant_number)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER flakeid_node_stays BEFORE DELETE ON flakeid_node
BEGIN
    SELECT RAISE(ABORT, 'rows of nodes are never deleted: their fences prevent duplicate IDs');
END;
CREATE TRIGGER flakeid_node_is_not_replaced BEFORE INSERT ON flakeid_node
WHEN EXISTS (SELECT 1 FROM flakeid_node WHERE namespace = NEW.namespace AND node = NEW.node)
BEGIN
    SELECT RAISE(ABORT, 'this node already has a row');
END;
CREATE TRIGGER flakeid_fence_stays BEFORE UPDATE ON flakeid_node
WHEN NEW.namespace <> OLD.namespace OR NEW.node <> OLD.node OR (NEW.fence < OLD.fence AND NOT (
    OLD.state = 'held' AND NEW.state = 'free' AND NEW.start = OLD.start AND NEW.fence >= OLD.start
))
BEGIN
    SELECT RAISE(ABORT, 'a fence falls only in a release, and to the start of its grant at most');
END;
CREATE TRIGGER flakeid_namespace_stays BEFORE DELETE ON flakeid_namespace
BEGIN
    SELECT RAISE(ABORT, 'namespaces are never deleted: their floors prevent duplicate IDs');
END;
CREATE TRIGGER flakeid_namespace_is_not_replaced BEFORE INSERT ON flakeid_namespace
WHEN EXISTS (SELECT 1 FROM flakeid_namespace WHERE name = NEW.name)
BEGIN
    SELECT RAISE(ABORT, 'this namespace already exists');
END;
CREATE TRIGGER flakeid_floor_stays BEFORE UPDATE ON flakeid_namespace
WHEN NEW.name <> OLD.name OR NEW.floor < OLD.floor OR NEW.quiet_until < OLD.quiet_until
    OR NEW.layout <> OLD.layout OR NEW.block_bits <> OLD.block_bits
BEGIN
    SELECT RAISE(ABORT, 'a floor never falls, and layout and block_bits never change');
END;
CREATE TABLE flakeid_sub_grant (
    namespace TEXT NOT NULL,
    node INTEGER NOT NULL,
    start INTEGER NOT NULL,
    block_grant INTEGER NOT NULL,
    grant_number INTEGER NOT NULL,
    owner_name TEXT NOT NULL,
    owner_host TEXT NOT NULL,
    owner_pid INTEGER NOT NULL,
    acquired INTEGER NOT NULL,
    PRIMARY KEY (namespace, node, start, block_grant, grant_number)
) STRICT, WITHOUT ROWID;
