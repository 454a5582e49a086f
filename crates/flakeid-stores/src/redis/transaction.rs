//! The reads of one Redis transaction, and the script that writes its changes.

use redis::{Connection, FromRedisValue, ScriptInvocation};

use super::super::optimistic::{Head, ReadRow, VersionedStore, WriteSet};
use super::fault::{fault, not_primary};
use super::keys::{Keys, number, pad};
use super::store::RedisStore;
use flakeid_protocol::store::{Candidates, Fault};

/// The maximum number of rows that one script reads. The number is limited because a server handles no other requests
/// while a script is running.
const PAGE: usize = 500;

/// The limit below which Lua scripts represent integers exactly. Nodes at or above this limit are never reported as
/// free.
const MOST_NODES: u64 = 1 << 53;

type HeadReply = (String, u32, i64, i64, Option<String>, Option<u64>, u64, u64, u64);

impl RedisStore {
    /// Returns the run that the server reported, or a fault if nothing may be written to the server.
    fn check_run(&self, run: String, replicas: u32) -> Result<String, Fault> {
        let (shown, confirming) = (&self.shown, self.replicas);
        match run.as_str() {
            "" => Err(not_primary(shown)),
            "?" => {
                let text = format!("the INFO response of {shown} lacks run_id or master_replid");
                Err(Fault::Rejected(text))
            }
            // The missing replicas may still follow an old primary and confirm that primary's grants. If this server
            // recorded its run now, this server could later grant the ticks of those grants again.
            _ if replicas < confirming => Err(Fault::Unavailable(format!(
                "{shown}: only {replicas} of {confirming} replicas that must confirm a write are \
                 connected"
            ))),
            _ => Ok(run),
        }
    }

    fn run_command<T: FromRedisValue>(&mut self, command: &redis::Cmd) -> Result<T, Fault> {
        command.query(&mut self.connection).map_err(|error| fault(&self.shown, &error))
    }

    /// Searches a sorted set whose members have the form `node:start:…`. Returns the node's last member that starts at
    /// or before a tick, and the node's first member that starts after the tick. Both members are read in one
    /// step.
    fn members_around(
        &mut self,
        key: &str,
        node: u64,
        tick: u64,
    ) -> Result<(Option<String>, Option<String>), Fault> {
        let after = format!("{}:{}", pad(node), pad(tick.saturating_add(1)));
        let (first, end) = ends(node, node);
        let mut both = redis::pipe();
        both.atomic().cmd("ZREVRANGEBYLEX").arg(key).arg(format!("({after}")).arg(first);
        both.arg("LIMIT").arg(0).arg(1);
        both.cmd("ZRANGEBYLEX").arg(key).arg(format!("[{after}")).arg(end);
        both.arg("LIMIT").arg(0).arg(1);
        let reply = both.query(&mut self.connection);
        let [found, next]: [Vec<String>; 2] = reply.map_err(|error| fault(&self.shown, &error))?;
        Ok((found.into_iter().next(), next.into_iter().next()))
    }

    /// Returns the first members of a sorted set that belong to the nodes in a range, at most `limit` in total.
    fn first_members(
        &mut self,
        key: &str,
        (from, to): (u64, u64),
        limit: usize,
    ) -> Result<Vec<String>, Fault> {
        let (first, end) = ends(from, to);
        let mut members = redis::cmd("ZRANGEBYLEX");
        members.arg(key).arg(first).arg(end).arg("LIMIT").arg(0).arg(limit);
        self.run_command(&members)
    }
}

/// Returns the lower and the upper bound of a range that contains all members of the nodes from `from` to `to`.
fn ends(from: u64, to: u64) -> (String, String) {
    // The upper bound ends with a semicolon, because a semicolon sorts directly after the colon that follows a member's
    // node.
    (format!("[{}:", pad(from)), format!("({};", pad(to)))
}

/// Returns the text at the end of a record or sub-grant, after the given number of numeric fields.
fn text_of(member: &str, numbers: usize) -> String {
    member.splitn(numbers + 1, ':').nth(numbers).unwrap_or_default().to_owned()
}

/// The number of numeric fields before the text of a record.
const IN_RECORD: usize = 3;

/// The number of numeric fields before the text of a sub-grant.
const IN_SUB_GRANT: usize = 4;

fn invoke<T: FromRedisValue>(
    connection: &mut Connection,
    shown: &str,
    script: &ScriptInvocation<'_>,
) -> Result<T, Fault> {
    script.invoke(connection).map_err(|error| fault(shown, &error))
}

impl VersionedStore for RedisStore {
    /// The version of a row is the row's value, because equal values lead to equal decisions.
    type Version = String;

    fn head(&mut self, namespace: &str) -> Result<Head<String>, Fault> {
        let keys = Keys::new(namespace);
        let mut script = self.scripts.head.prepare_invoke();
        script.key(keys.namespace).key(keys.rows).key(keys.used).key(keys.fences);
        script.arg(&self.run).arg(self.replicas);
        let reply: HeadReply = invoke(&mut self.connection, &self.shown, &script)?;
        let (run, replicas, seconds, micros, text, ever, rows, used, fences) = reply;
        if self.run.is_empty() {
            self.run = self.check_run(run, replicas)?;
        }
        Ok(Head {
            now: seconds * 1000 + micros / 1000,
            namespace: text.map(|text| (text.clone(), text)),
            is_complete: Some([used, fences, ever.unwrap_or(0)].iter().all(|count| *count == rows)),
        })
    }

    fn incarnation(&mut self, _namespace: &str) -> Result<String, Fault> {
        Ok(self.run.clone())
    }

    fn rows_of(
        &mut self,
        namespace: &str,
        nodes: &[u64],
    ) -> Result<Vec<Option<(String, String)>>, Fault> {
        let mut get = redis::cmd("HMGET");
        get.arg(Keys::new(namespace).rows);
        for node in nodes {
            get.arg(pad(*node));
        }
        let texts: Vec<Option<String>> = self.run_command(&get)?;
        Ok(texts.into_iter().map(|text| text.map(|text| (text.clone(), text))).collect())
    }

    fn coldest(
        &mut self,
        namespace: &str,
        candidates: &Candidates<'_>,
        enough: usize,
    ) -> Result<Vec<ReadRow<String>>, Fault> {
        let keys = Keys::new(namespace);
        let mut found = Vec::new();
        let mut offset = 0;
        loop {
            let mut script = self.scripts.coldest.prepare_invoke();
            script.key(&keys.rows).key(&keys.fences);
            script.arg(pad(candidates.from)).arg(pad(candidates.to));
            // Redis represents scores below 2^53 exactly, and the ticks of any realistic clock are below that limit.
            script.arg(candidates.store_now).arg(candidates.hottest).arg(candidates.incarnation);
            script.arg(u8::from(candidates.name.is_some())).arg(candidates.name.unwrap_or(""));
            script.arg(offset).arg(PAGE);
            let reply: Vec<String> = invoke(&mut self.connection, &self.shown, &script)?;
            let mut reply = reply.into_iter();
            let length = number(&reply.next().unwrap_or_default())? as usize;
            while let (Some(node), Some(text)) = (reply.next(), reply.next()) {
                found.push(ReadRow { node: number(&node)?, version: text.clone(), text });
            }
            offset += length;
            if length < PAGE || found.len() >= enough {
                return Ok(found);
            }
        }
    }

    fn unused(
        &mut self,
        namespace: &str,
        (from, to): (u64, u64),
        first: u64,
        skip: u64,
    ) -> Result<Option<u64>, Fault> {
        let to = to.min(MOST_NODES - 1);
        if from > to {
            return Ok(None);
        }
        let mut script = self.scripts.unused.prepare_invoke();
        script.key(Keys::new(namespace).used).arg(from).arg(to).arg(first.min(to)).arg(skip);
        let node: Option<String> = invoke(&mut self.connection, &self.shown, &script)?;
        node.as_deref().map(number).transpose()
    }

    fn rows(&mut self, namespace: &str) -> Result<Vec<ReadRow<String>>, Fault> {
        let keys = Keys::new(namespace);
        let mut both = redis::pipe();
        both.atomic().cmd("HGET").arg(keys.namespace).arg("changes");
        both.cmd("HGETALL").arg(keys.rows);
        let reply = both.query(&mut self.connection);
        let (changes, rows): (Option<String>, Vec<(String, String)>) =
            reply.map_err(|error| fault(&self.shown, &error))?;
        self.changes = changes.unwrap_or_else(|| "0".into());
        let read_row = |(node, text): (String, String)| {
            Ok(ReadRow { node: number(&node)?, version: text.clone(), text })
        };
        rows.into_iter().map(read_row).collect()
    }

    fn mismatched_nodes(&mut self, namespace: &str) -> Result<Vec<u64>, Fault> {
        let keys = Keys::new(namespace);
        let mut all = redis::pipe();
        all.atomic().cmd("HKEYS").arg(keys.rows);
        all.cmd("ZRANGE").arg(keys.used).arg(0).arg(-1);
        all.cmd("ZRANGE").arg(keys.fences).arg(0).arg(-1);
        let reply = all.query(&mut self.connection);
        let sets: [Vec<String>; 3] = reply.map_err(|error| fault(&self.shown, &error))?;
        let mut counts = std::collections::BTreeMap::<String, usize>::new();
        for node in sets.into_iter().flatten() {
            *counts.entry(node).or_default() += 1;
        }
        let mismatched = counts.iter().filter(|(_, count)| **count < 3);
        mismatched.map(|(node, _)| number(node)).collect()
    }

    fn records_around(
        &mut self,
        namespace: &str,
        node: u64,
        tick: u64,
    ) -> Result<(Option<String>, Option<String>), Fault> {
        let (found, next) = self.members_around(&Keys::new(namespace).history, node, tick)?;
        let text = |member: String| text_of(&member, IN_RECORD);
        Ok((found.map(text), next.map(text)))
    }

    fn oldest_records(
        &mut self,
        namespace: &str,
        node: u64,
        limit: usize,
    ) -> Result<Vec<String>, Fault> {
        let members = self.first_members(&Keys::new(namespace).history, (node, node), limit)?;
        Ok(members.iter().map(|member| text_of(member, IN_RECORD)).collect())
    }

    fn sub_grants_around(
        &mut self,
        namespace: &str,
        node: u64,
        tick: u64,
    ) -> Result<(Option<String>, Option<String>), Fault> {
        let (found, next) = self.members_around(&Keys::new(namespace).sub_grants, node, tick)?;
        let text = |member: String| text_of(&member, IN_SUB_GRANT);
        Ok((found.map(text), next.map(text)))
    }

    fn oldest_sub_grants(
        &mut self,
        namespace: &str,
        range: (u64, u64),
        limit: usize,
    ) -> Result<Vec<(u64, String)>, Fault> {
        let members = self.first_members(&Keys::new(namespace).sub_grants, range, limit)?;
        let read = |member: &String| {
            let node = number(member.split(':').next().unwrap_or_default())?;
            Ok((node, text_of(member, IN_SUB_GRANT)))
        };
        members.iter().map(read).collect()
    }

    fn commit(&mut self, namespace: &str, write_set: &WriteSet<String>) -> Result<(), Fault> {
        let keys = Keys::new(namespace);
        let mut script = self.scripts.commit.prepare_invoke();
        script.key(keys.namespace).key(keys.rows).key(keys.used);
        script.key(keys.fences).key(keys.history).key(keys.sub_grants);
        script.arg(&self.run).arg(self.replicas);
        script.arg(write_set.namespace_read.as_deref().unwrap_or(""));
        script.arg(if write_set.read_all { self.changes.as_str() } else { "" });
        script
            .arg(write_set.namespace.as_deref().unwrap_or(""))
            .arg(u8::from(write_set.resets_row_marks));
        // Replicas confirm only the writes on this connection, but a transaction may depend on an earlier write on
        // another connection. If replicas must confirm writes, even a transaction without changes therefore performs a
        // write.
        script.arg(u8::from(self.replicas > 0)).arg(write_set.rows_read.len());
        for (node, read) in &write_set.rows_read {
            script.arg(pad(*node)).arg(read.as_deref().unwrap_or(""));
        }
        script.arg(write_set.rows.len());
        for row in &write_set.rows {
            script.arg(pad(row.node)).arg(row.fence).arg(&row.text);
        }
        script.arg(write_set.records.len());
        for (node, start, grant, text) in &write_set.records {
            let member = format!("{}:{}:{}", pad(*node), pad(*start), pad(*grant));
            script.arg(format!("{member}:{text}"));
        }
        script.arg(write_set.sub_grants.len());
        for sub in &write_set.sub_grants {
            let [node, start, of_block, grant] =
                [sub.node, sub.start, sub.block_grant, sub.grant].map(pad);
            script.arg(format!("{node}:{start}:{of_block}:{grant}:{}", sub.text));
        }
        // The upper bound ends with a semicolon, which sorts directly after a colon. The range therefore includes the
        // last member to remove, which has a colon after its numeric fields.
        script.arg(write_set.removed_records.len());
        for record in &write_set.removed_records {
            let [node, start, grant] = [record.node, record.start, record.grant].map(pad);
            script.arg(format!("[{node}:")).arg(format!("({node}:{start}:{grant};"));
        }
        script.arg(write_set.removed_sub_grants.len());
        for sub in &write_set.removed_sub_grants {
            let [node, start, of_block, grant] =
                [sub.node, sub.start, sub.block_grant, sub.grant].map(pad);
            script.arg(format!("[{node}:")).arg(format!("({node}:{start}:{of_block}:{grant};"));
        }
        let written: bool = invoke(&mut self.connection, &self.shown, &script)?;
        if !written {
            // The conflict may be due to a new run of the server. `run` is cleared, so that the next attempt reads the
            // server's current run.
            self.run.clear();
            return Err(Fault::Conflict);
        }
        self.wait_for_replicas()
    }
}
