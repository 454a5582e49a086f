//! Starts a private server of every kind, prints a line `kind URL` for each, and stops them when its
//! standard input ends: so also when whoever started this program ends, however that happens.

use std::io;

use flakeid_test_servers::{EtcdServer, MariadbServer, PostgresServer, RedisServer, Server};

fn main() -> io::Result<()> {
    let servers: [(&str, Box<dyn Server>); 4] = [
        ("postgresql", Box::new(PostgresServer::new())),
        ("mysql", Box::new(MariadbServer::new())),
        ("redis", Box::new(RedisServer::new())),
        ("etcd", Box::new(EtcdServer::new())),
    ];
    for (kind, server) in &servers {
        println!("{kind} {}", server.url());
    }
    println!("ready");
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}
