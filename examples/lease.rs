//! Five IDs of a leased node: however many copies run at once, no ID comes twice.

use flakeid::{Error, Generator, Layout};

fn main() -> Result<(), Error> {
    let url = std::env::var("FLAKEID_STORE").unwrap_or_else(|_| "sqlite://flakeid.db".to_owned());
    let generator = Generator::lease(&url, Layout::TWITTER)?
        .namespace("orders")
        .observer(|event| eprintln!("{event:?}")) // for your log and metrics
        .open()?;
    for _ in 0..5 {
        println!("{}", generator.next_id()?);
    }
    generator.close(); // gives the node back; so does dropping it
    Ok(())
}
