//! Templates of scripts: text with `{{name}}` where a term is to be written.

use flakeid_core::Error;

use super::layout_terms::Term;

/// Whether a schema can have this name in a script. What would have to be escaped, in SQL, in strings and in the
/// bodies of functions each in its own way, is refused.
pub(super) fn check_name(name: &str, longest: usize) -> Result<(), Error> {
    let is_known = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if (1..=longest).contains(&name.len()) && name.chars().all(is_known) {
        return Ok(());
    }
    let reason = format!(
        "{name:?} must be 1 to {longest} letters of A to Z and a to z, digits and underscores"
    );
    Err(Error::invalid_option("--schema", &reason))
}

/// Writes the terms in their places. A place without a term stays as it is, which no database takes for
/// SQL, and a test looks for such places.
pub(super) fn fill(template: &str, terms: &[Term]) -> String {
    let mut text = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text += before;
        let known = after.split_once("}}").and_then(|(name, after)| {
            Some((terms.iter().find(|(known, _)| *known == name)?, after))
        });
        if let Some(((_, value), after)) = known {
            text += value;
            rest = after;
        } else {
            text += "{{";
            rest = after;
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn fill_inserts_terms_once_and_keeps_unknown_placeholders() {
        let terms = [("node", "7".to_owned()), ("twice", "{{node}}".to_owned())];
        assert_eq!(fill("a {{node}} b {{node}}", &terms), "a 7 b 7");
        assert_eq!(fill("{{twice}} {{other}} {{", &terms), "{{node}} {{other}} {{");
    }
}
