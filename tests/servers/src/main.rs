//! Starts private servers of the kinds that the arguments name, or of every kind. Prints a line
//! `kind URL EXAMPLE` for each server, and stops all when standard input ends, and so whenever the parent
//! process ends.

use std::{env, io};

use flakeid_test_servers::KINDS;

fn main() -> io::Result<()> {
    // Ctrl-C ends the parent process, but must not end the servers before this program can stop them.
    #[allow(
        unsafe_code,
        reason = "the standard library cannot change the group of a running process"
    )]
    // SAFETY: the call changes only the group of this process.
    unsafe {
        libc::setpgid(0, 0)
    };
    let chosen: Vec<String> = env::args().skip(1).collect();
    if let Some(unknown) = chosen.iter().find(|name| KINDS.iter().all(|kind| kind.name != **name)) {
        let kinds = KINDS.each_ref().map(|kind| kind.name).join(", ");
        return Err(io::Error::other(format!(
            "{unknown:?} is not a kind of server; the kinds are {kinds}"
        )));
    }
    let mut servers = Vec::new();
    for kind in &KINDS {
        let is_chosen = chosen.iter().any(|name| name == kind.name);
        if is_chosen || chosen.is_empty() && kind.is_installed() {
            let server = (kind.start)();
            println!("{} {} {}", kind.name, server.url(), kind.example);
            servers.push(server);
        }
    }
    println!("ready");
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}
