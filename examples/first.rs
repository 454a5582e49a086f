//! Prints an ID that no other process has.

use flakeid::{Error, Layout};

fn main() -> Result<(), Error> {
    let generator = flakeid::lease("sqlite://flakeid.db", Layout::TWITTER)?.open()?;
    println!("{}", generator.next_id()?); // 2126905504767672322
    Ok(())
}
