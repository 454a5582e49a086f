use redis::{Connection, FromRedisValue, Script, ScriptInvocation};

use super::super::optimistic::{Draft, Head, Seen, Shelf};
use super::super::{Candidates, Fault};
use super::connection::{fault, not_primary};
use super::keys::{Keys, number, padded};

/// How many rows one script looks at: a server answers nobody else while a script runs.
const PAGE: usize = 500;

/// Above this the numbers of scripts are not exact; nodes from here on are never found free.
const MOST_NODES: u64 = 1 << 53;

/// One connection.
pub(super) struct Server {
    pub connection: Connection,
    pub place: String,
    /// The run that a transaction rests on, `run_id/master_replid`; empty if it is to be asked for.
    /// Failovers, and proxies in front of them, keep connections, so the connection may lead to
    /// another one by now: the commit compares it in the same step as everything else.
    pub run: String,
    /// How many replicas must confirm what is written.
    pub replicas: u32,
    /// How often the namespace had been changed when all rows were read.
    pub changes: String,
    pub scripts: Scripts,
}

pub(super) struct Scripts {
    head: Script,
    coldest: Script,
    unused: Script,
    commit: Script,
}

impl Scripts {
    pub(super) fn new() -> Self {
        Self {
            head: Script::new(concat!(include_str!("run.lua"), include_str!("head.lua"))),
            coldest: Script::new(include_str!("coldest.lua")),
            unused: Script::new(include_str!("unused.lua")),
            commit: Script::new(concat!(include_str!("run.lua"), include_str!("commit.lua"))),
        }
    }
}

type HeadReply = (String, u32, i64, i64, Option<String>, Option<u64>, u64, u64, u64);

impl Server {
    /// Refuses a run that nothing may be written to.
    fn checked_run(&self, run: String, replicas: u32) -> Result<String, Fault> {
        let (place, confirming) = (&self.place, self.replicas);
        match run.as_str() {
            "" => Err(not_primary(place)),
            "?" => {
                let text = format!("{place} tells no run_id or no master_replid in INFO");
                Err(Fault::Rejected(text))
            }
            // A new primary that noted its run while its replicas still follow the old one, and
            // confirm what that one grants, would later grant the same.
            _ if replicas < confirming => Err(Fault::Unavailable(format!(
                "{place}: {replicas} of {confirming} replicas that must confirm a write follow it"
            ))),
            _ => Ok(run),
        }
    }

    fn ask<T: FromRedisValue>(&mut self, command: &redis::Cmd) -> Result<T, Fault> {
        command.query(&mut self.connection).map_err(|error| fault(&self.place, &error))
    }
}

fn run<T: FromRedisValue>(
    connection: &mut Connection,
    place: &str,
    script: &ScriptInvocation<'_>,
) -> Result<T, Fault> {
    script.invoke(connection).map_err(|error| fault(place, &error))
}

impl Shelf for Server {
    /// A row's text is its version: where it is the same again, so is every decision.
    type Version = String;

    fn head(&mut self, namespace: &str) -> Result<Head<String>, Fault> {
        let keys = Keys::of(namespace);
        let mut script = self.scripts.head.prepare_invoke();
        script.key(keys.namespace).key(keys.rows).key(keys.used).key(keys.fences);
        script.arg(&self.run).arg(self.replicas);
        let reply: HeadReply = run(&mut self.connection, &self.place, &script)?;
        let (run, replicas, seconds, micros, text, ever, rows, used, fences) = reply;
        if self.run.is_empty() {
            self.run = self.checked_run(run, replicas)?;
        }
        Ok(Head {
            now: seconds * 1000 + micros / 1000,
            namespace: text.map(|text| (text.clone(), text)),
            whole: Some([used, fences, ever.unwrap_or(0)].iter().all(|count| *count == rows)),
        })
    }

    fn incarnation(&mut self, _namespace: &str) -> Result<String, Fault> {
        Ok(self.run.clone())
    }

    fn row(&mut self, namespace: &str, node: u64) -> Result<Option<(String, String)>, Fault> {
        let mut get = redis::cmd("HGET");
        get.arg(Keys::of(namespace).rows).arg(padded(node));
        let text: Option<String> = self.ask(&get)?;
        Ok(text.map(|text| (text.clone(), text)))
    }

    fn coldest(
        &mut self,
        namespace: &str,
        candidates: &Candidates<'_>,
        enough: usize,
    ) -> Result<Vec<Seen<String>>, Fault> {
        let keys = Keys::of(namespace);
        let mut found = Vec::new();
        let mut offset = 0;
        loop {
            let mut script = self.scripts.coldest.prepare_invoke();
            script.key(&keys.rows).key(&keys.fences);
            script.arg(padded(candidates.from)).arg(padded(candidates.to));
            // Scores are exact below 2^53, which no clock's tick exceeds.
            script.arg(candidates.store_now).arg(candidates.hottest);
            script.arg(u8::from(candidates.name.is_some())).arg(candidates.name.unwrap_or(""));
            script.arg(offset).arg(PAGE);
            let reply: Vec<String> = run(&mut self.connection, &self.place, &script)?;
            let mut reply = reply.into_iter();
            let length = number(&reply.next().unwrap_or_default())? as usize;
            while let (Some(node), Some(text)) = (reply.next(), reply.next()) {
                found.push(Seen { node: number(&node)?, version: text.clone(), text });
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
        script.key(Keys::of(namespace).used).arg(from).arg(to).arg(first.min(to)).arg(skip);
        let node: Option<String> = run(&mut self.connection, &self.place, &script)?;
        node.as_deref().map(number).transpose()
    }

    fn rows(&mut self, namespace: &str) -> Result<Vec<Seen<String>>, Fault> {
        let keys = Keys::of(namespace);
        let mut both = redis::pipe();
        both.atomic().cmd("HGET").arg(keys.namespace).arg("changes");
        both.cmd("HGETALL").arg(keys.rows);
        let reply = both.query(&mut self.connection);
        let (changes, rows): (Option<String>, Vec<(String, String)>) =
            reply.map_err(|error| fault(&self.place, &error))?;
        self.changes = changes.unwrap_or_else(|| "0".into());
        let seen = |(node, text): (String, String)| {
            Ok(Seen { node: number(&node)?, version: text.clone(), text })
        };
        rows.into_iter().map(seen).collect()
    }

    fn strays(&mut self, namespace: &str) -> Result<Vec<u64>, Fault> {
        let keys = Keys::of(namespace);
        let mut all = redis::pipe();
        all.atomic().cmd("HKEYS").arg(keys.rows);
        all.cmd("ZRANGE").arg(keys.used).arg(0).arg(-1);
        all.cmd("ZRANGE").arg(keys.fences).arg(0).arg(-1);
        let reply = all.query(&mut self.connection);
        let sets: [Vec<String>; 3] = reply.map_err(|error| fault(&self.place, &error))?;
        let mut counts = std::collections::BTreeMap::<String, usize>::new();
        for node in sets.into_iter().flatten() {
            *counts.entry(node).or_default() += 1;
        }
        let strays = counts.iter().filter(|(_, count)| **count < 3);
        strays.map(|(node, _)| number(node)).collect()
    }

    fn record_at(
        &mut self,
        namespace: &str,
        node: u64,
        tick: u64,
    ) -> Result<Option<(String, Option<u64>)>, Fault> {
        let history = Keys::of(namespace).history;
        let node = padded(node);
        let mut last = redis::cmd("ZREVRANGEBYLEX");
        last.arg(&history).arg(format!("({node}:{}", padded(tick.saturating_add(1))));
        last.arg(format!("[{node}:")).arg("LIMIT").arg(0).arg(1);
        let found: Vec<String> = self.ask(&last)?;
        let Some(found) = found.into_iter().next() else { return Ok(None) };
        let mut next = redis::cmd("ZRANGEBYLEX");
        // A semicolon comes after every colon.
        next.arg(&history).arg(format!("({found}")).arg(format!("({node};"));
        next.arg("LIMIT").arg(0).arg(1);
        let next: Vec<String> = self.ask(&next)?;
        let start = |member: &String| number(member.split(':').nth(1).unwrap_or_default());
        let next = next.first().map(start).transpose()?;
        let text = found.splitn(4, ':').nth(3).unwrap_or_default().to_owned();
        Ok(Some((text, next)))
    }

    fn commit(&mut self, namespace: &str, draft: &Draft<String>) -> Result<(), Fault> {
        let keys = Keys::of(namespace);
        let mut script = self.scripts.commit.prepare_invoke();
        script.key(keys.namespace).key(keys.rows).key(keys.used);
        script.key(keys.fences).key(keys.history);
        script.arg(&self.run).arg(self.replicas);
        script.arg(draft.namespace_seen.as_deref().unwrap_or(""));
        script.arg(if draft.all_seen { self.changes.as_str() } else { "" });
        script.arg(draft.namespace.as_deref().unwrap_or("")).arg(u8::from(draft.mends));
        // Replicas confirm what this connection wrote: an answer that rests on an earlier write
        // needs one of its own.
        script.arg(u8::from(self.replicas > 0)).arg(draft.rows_seen.len());
        for (node, seen) in &draft.rows_seen {
            script.arg(padded(*node)).arg(seen.as_deref().unwrap_or(""));
        }
        script.arg(draft.rows.len());
        for row in &draft.rows {
            script.arg(padded(row.node)).arg(row.fence).arg(&row.text);
        }
        script.arg(draft.records.len());
        for (node, start, grant, text) in &draft.records {
            let place = format!("{}:{}:{}", padded(*node), padded(*start), padded(*grant));
            script.arg(format!("{place}:{text}"));
        }
        let written: bool = run(&mut self.connection, &self.place, &script)?;
        if !written {
            // Perhaps because of it.
            self.run.clear();
            return Err(Fault::Conflict);
        }
        self.replicated()
    }
}
