//! Starts private servers of the kinds that the arguments name, or of every kind. Prints a line
//! `kind URL` for each server, and stops all when standard input ends, and so whenever the parent
//! process ends.

use std::{env, io};

use flakeid_test_servers::{
    DynamoDbServer, EtcdServer, MariadbServer, PostgresServer, RedisServer, S3Server, Server,
};

/// A function that starts a server.
type Start = fn() -> Box<dyn Server>;

const KINDS: [(&str, Start); 6] = [
    ("postgresql", || Box::new(PostgresServer::new())),
    ("mysql", || Box::new(MariadbServer::new())),
    ("redis", || Box::new(RedisServer::new())),
    ("etcd", || Box::new(EtcdServer::new())),
    ("s3", || Box::new(S3Server::new())),
    ("dynamodb", || Box::new(DynamoDbServer::new())),
];

fn main() -> io::Result<()> {
    let chosen: Vec<String> = env::args().skip(1).collect();
    if let Some(unknown) = chosen.iter().find(|name| KINDS.iter().all(|(kind, _)| kind != name)) {
        let kinds = KINDS.map(|(kind, _)| kind).join(", ");
        return Err(io::Error::other(format!(
            "{unknown:?} is not a kind of server; the kinds are {kinds}"
        )));
    }
    let mut servers = Vec::new();
    for (kind, start) in KINDS {
        if chosen.is_empty() || chosen.iter().any(|name| name == kind) {
            let server = start();
            println!("{kind} {}", server.url());
            servers.push(server);
        }
    }
    println!("ready");
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}
