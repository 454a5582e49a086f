//! The outermost structure of a WebAssembly module.

/// Magic and version.
const HEADER: usize = 8;

/// The module without its custom sections of this name; nothing if it is no module.
pub(crate) fn without_custom(module: &[u8], name: &str) -> Option<Vec<u8>> {
    let mut kept = module.get(..HEADER).filter(|header| header.starts_with(b"\0asm"))?.to_vec();
    let mut rest = &module[HEADER..];
    while let [id, after_id @ ..] = rest {
        let (size, content) = number(after_id)?;
        let content = content.get(..size)?;
        let whole = 1 + (after_id.len() - number(after_id)?.1.len()) + size;
        if *id != 0 || custom_name(content)? != name.as_bytes() {
            kept.extend_from_slice(&rest[..whole]);
        }
        rest = &rest[whole..];
    }
    Some(kept)
}

fn custom_name(content: &[u8]) -> Option<&[u8]> {
    let (length, rest) = number(content)?;
    rest.get(..length)
}

/// A number in LEB128, and what follows it.
fn number(mut bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        bytes = rest;
        value |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some((value, bytes));
        }
    }
    None
}
