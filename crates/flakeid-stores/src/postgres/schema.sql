CREATE TABLE IF NOT EXISTS flakeid_schema (version bigint PRIMARY KEY);

CREATE TABLE IF NOT EXISTS flakeid_namespace (
    name text PRIMARY KEY,
    layout text NOT NULL,
    block_bits bigint NOT NULL CHECK (block_bits BETWEEN 0 AND 63),
    floor bigint NOT NULL CHECK (floor >= 0),
    quiet_until bigint NOT NULL,
    incarnation text NOT NULL,
    max_window_ms bigint NOT NULL CHECK (max_window_ms >= 0),
    max_ahead_ms bigint NOT NULL CHECK (max_ahead_ms >= 0),
    max_skew_ms bigint NOT NULL CHECK (max_skew_ms >= 0),
    quiet_ms bigint NOT NULL CHECK (quiet_ms >= 0),
    keeps_history boolean NOT NULL
);

CREATE TABLE IF NOT EXISTS flakeid_node (
    namespace text NOT NULL REFERENCES flakeid_namespace (name),
    node bigint NOT NULL CHECK (node >= 0),
    fence bigint NOT NULL,
    start bigint NOT NULL CHECK (start >= 0),
    token text CHECK (token ~ '^[0-9a-f]{32}$'),
    grant_number bigint NOT NULL CHECK (grant_number >= 0),
    state text NOT NULL CHECK (state IN ('free', 'held', 'quarantined')),
    owner_name text NOT NULL,
    owner_host text NOT NULL,
    owner_pid bigint NOT NULL CHECK (owner_pid BETWEEN 0 AND 4294967295),
    acquired bigint NOT NULL,
    renewed bigint NOT NULL,
    expires bigint NOT NULL,
    incarnation text NOT NULL,
    fixed boolean NOT NULL,
    history_until bigint NOT NULL CHECK (history_until >= 0),
    PRIMARY KEY (namespace, node),
    CHECK (fence >= start)
);
CREATE INDEX IF NOT EXISTS flakeid_node_coldest ON flakeid_node (namespace, fence, node);
CREATE INDEX IF NOT EXISTS flakeid_node_name
    ON flakeid_node (namespace, owner_name, fence, node) WHERE owner_name <> '';

CREATE TABLE IF NOT EXISTS flakeid_grant (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace text NOT NULL REFERENCES flakeid_namespace (name),
    node bigint NOT NULL,
    grant_number bigint NOT NULL,
    start bigint NOT NULL,
    owner_name text NOT NULL,
    owner_host text NOT NULL,
    owner_pid bigint NOT NULL,
    acquired bigint NOT NULL,
    previous_until bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS flakeid_grant_start
    ON flakeid_grant (namespace, node, start, grant_number);

CREATE TABLE IF NOT EXISTS flakeid_sub_grant (
    namespace text NOT NULL REFERENCES flakeid_namespace (name),
    node bigint NOT NULL,
    start bigint NOT NULL,
    block_grant bigint NOT NULL,
    grant_number bigint NOT NULL,
    owner_name text NOT NULL,
    owner_host text NOT NULL,
    owner_pid bigint NOT NULL,
    acquired bigint NOT NULL,
    PRIMARY KEY (namespace, node, start, block_grant, grant_number)
);

CREATE OR REPLACE FUNCTION flakeid_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'flakeid: % of % is refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE OR REPLACE FUNCTION flakeid_keep_namespace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.name <> OLD.name OR NEW.layout <> OLD.layout OR NEW.block_bits <> OLD.block_bits THEN
        RAISE EXCEPTION 'flakeid: the name, layout and block_bits of a namespace never change'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.floor < OLD.floor OR NEW.quiet_until < OLD.quiet_until THEN
        RAISE EXCEPTION 'flakeid: the floor or quiet_until of namespace % would fall', OLD.name
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION flakeid_keep_node() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.namespace <> OLD.namespace OR NEW.node <> OLD.node THEN
        RAISE EXCEPTION 'flakeid: the row of node % cannot become the row of another node', OLD.node
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.start < OLD.start OR NEW.fence < OLD.fence AND NOT (
        OLD.state = 'held' AND NEW.state = 'free' AND NEW.token IS NULL
        AND NEW.fence >= OLD.start AND NEW.start = OLD.start
    ) THEN
        RAISE EXCEPTION 'flakeid: the fence of node % would fall outside a release', OLD.node
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;

DROP TRIGGER IF EXISTS flakeid_keep ON flakeid_namespace;
CREATE TRIGGER flakeid_keep BEFORE DELETE OR TRUNCATE ON flakeid_namespace
    FOR EACH STATEMENT EXECUTE FUNCTION flakeid_keep();
DROP TRIGGER IF EXISTS flakeid_keep_update ON flakeid_namespace;
CREATE TRIGGER flakeid_keep_update BEFORE UPDATE ON flakeid_namespace
    FOR EACH ROW EXECUTE FUNCTION flakeid_keep_namespace();
DROP TRIGGER IF EXISTS flakeid_keep ON flakeid_node;
CREATE TRIGGER flakeid_keep BEFORE DELETE OR TRUNCATE ON flakeid_node
    FOR EACH STATEMENT EXECUTE FUNCTION flakeid_keep();
DROP TRIGGER IF EXISTS flakeid_keep_update ON flakeid_node;
CREATE TRIGGER flakeid_keep_update BEFORE UPDATE ON flakeid_node
    FOR EACH ROW EXECUTE FUNCTION flakeid_keep_node();
-- Only a transaction that prunes the history sets flakeid.prune, so that no other statement deletes history by mistake.
DROP TRIGGER IF EXISTS flakeid_keep ON flakeid_grant;
CREATE TRIGGER flakeid_keep BEFORE UPDATE OR TRUNCATE ON flakeid_grant
    FOR EACH STATEMENT EXECUTE FUNCTION flakeid_keep();
DROP TRIGGER IF EXISTS flakeid_keep_delete ON flakeid_grant;
CREATE TRIGGER flakeid_keep_delete BEFORE DELETE ON flakeid_grant
    FOR EACH STATEMENT WHEN (current_setting('flakeid.prune', true) IS DISTINCT FROM 'on')
    EXECUTE FUNCTION flakeid_keep();

DROP TRIGGER IF EXISTS flakeid_keep ON flakeid_sub_grant;
CREATE TRIGGER flakeid_keep BEFORE UPDATE OR TRUNCATE ON flakeid_sub_grant
    FOR EACH STATEMENT EXECUTE FUNCTION flakeid_keep();
DROP TRIGGER IF EXISTS flakeid_keep_delete ON flakeid_sub_grant;
CREATE TRIGGER flakeid_keep_delete BEFORE DELETE ON flakeid_sub_grant
    FOR EACH STATEMENT WHEN (current_setting('flakeid.prune', true) IS DISTINCT FROM 'on')
    EXECUTE FUNCTION flakeid_keep();

INSERT INTO flakeid_schema VALUES (4) ON CONFLICT DO NOTHING;
