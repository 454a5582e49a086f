//! Prints five IDs of a leased node. No two copies of this program print the same ID.

use flakeid::{Error, Layout};

fn main() -> Result<(), Error> {
    let url = std::env::var("FLAKEID_STORE").unwrap_or_else(|_| "sqlite://flakeid.db".to_owned());
    let generator = flakeid::lease(&url, Layout::TWITTER)?
        .namespace("orders")
        .observer(|event| eprintln!("{event:?}")) // for your log and metrics
        .open()?;
    for _ in 0..5 {
        println!("{}", generator.next_id()?);
    }
    generator.close(); // releases the node; so does dropping the generator
    Ok(())
}
