//! Creates the public form of an ID, and opens it again.

use flakeid::{Generator, Keyring, Layout};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let keyring: Keyring = std::fs::read_to_string("public.keys")?.parse()?;
    let users = keyring.domain("user", Layout::TWITTER)?.with_prefix("usr")?;
    let users = users.since(1_767_225_600_000); // 2026-01-01

    let id = Generator::new(Layout::TWITTER, 7)?.next_id()?;
    let text = users.seal(id)?; // usr_a…
    assert_eq!(users.open(&text)?, id);
    println!("{text}");
    Ok(())
}
