//! Script templates, which contain placeholders such as `{{name}}`.

use flakeid_core::Error;

use super::layout_terms::Term;

/// Checks that a schema's name has at most `longest` bytes and needs no escaping in a script. The
/// rules for escaping differ between SQL statements, strings and function bodies.
pub(super) fn check_name(name: &str, longest: usize) -> Result<(), Error> {
    let is_known = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if (1..=longest).contains(&name.len()) && name.chars().all(is_known) {
        return Ok(());
    }
    let reason = format!(
        "{name:?} must be 1 to {longest} characters long and contain only letters (A to Z, a to z), digits and underscores"
    );
    Err(Error::invalid_option("--schema", &reason))
}

/// Replaces each placeholder in a template with the value of its term. A placeholder without a term
/// remains unchanged: databases reject it as invalid SQL, and a test searches for such
/// placeholders.
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
    fn template_does_not_expand_inserted_terms_or_unknown_placeholders() {
        let terms = [("node", "7".to_owned()), ("twice", "{{node}}".to_owned())];
        assert_eq!(fill("a {{node}} b {{node}}", &terms), "a 7 b 7");
        assert_eq!(fill("{{twice}} {{other}} {{", &terms), "{{node}} {{other}} {{");
    }
}
