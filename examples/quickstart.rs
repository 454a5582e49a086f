//! Generates one ID of node 7, and decodes it.

use flakeid::{Generator, Layout};

fn main() -> Result<(), flakeid::Error> {
    let generator = Generator::new(Layout::TWITTER, 7)?; // node 7 of 1024
    let id = generator.next_id()?;
    println!("{id} {} {:?}", id.to_base62(), Layout::TWITTER.unpack(id)?);
    Ok(())
}
