//! Tests of each pattern of the style guide, and of good English, which must not be reported.

use super::passages::{Kind, passages};
use super::rules::check;
use super::{Language, markdown};

/// Returns the rules that the passages of a source file break, sorted.
fn broken(source: &str, language: Language) -> Vec<&'static str> {
    let passages = passages(source, language);
    let mut rules: Vec<_> =
        passages.iter().flat_map(check).map(|violation| violation.rule).collect();
    rules.sort_unstable();
    rules
}

fn rust(source: &str) -> Vec<&'static str> {
    broken(source, Language::Rust)
}

fn document(text: &str) -> Vec<&'static str> {
    markdown::passages(text).iter().flat_map(check).map(|violation| violation.rule).collect()
}

fn test_name(name: &str) -> Vec<&'static str> {
    rust(&format!("#[test]\nfn {name}() {{}}"))
}

#[test]
fn lint_reports_passages_that_open_with_a_subordinate_clause() {
    assert_eq!(rust("/// What the page itself cannot forbid.\nconst A: u8 = 1;"), ["opening"]);
    assert_eq!(rust("// As browsers send it."), ["opening"]);
    assert_eq!(rust("let why = \"why this window was closed\";"), ["opening"]);
    assert_eq!(document("A window ends. What is left of it is lost."), ["opening"]);
    assert_eq!(document("Whoever has no node waits."), ["opening", "person"]);
    assert_eq!(test_name("what_cannot_be_is_refused"), ["test-name"]);
    assert_eq!(document("What is an ID? A number."), [""; 0]);
    assert_eq!(rust("// As soon as the store answers, the wait ends."), [""; 0]);
}

#[test]
fn lint_reports_pronouns_without_an_antecedent() {
    assert_eq!(rust("/// Its size in the first release.\nconst A: u8 = 1;"), ["opening"]);
    assert_eq!(rust("// Takes the oldest that there are."), ["pronoun"]);
    assert_eq!(rust("// The store itself rejects those two."), ["pronoun"]);
    assert_eq!(test_name("others_are_disconnected"), ["test-name"]);
    assert_eq!(rust("// The store rejects those two requests."), [""; 0]);
}

#[test]
fn lint_reports_things_that_act_like_people() {
    assert_eq!(document("An ID tells when the node leased it."), ["agent"]);
    assert_eq!(rust("let a = \"the store cannot tell when it was lost\";"), ["agent"]);
    assert_eq!(test_name("a_folder_may_stand_for_any_version"), ["agent", "word"]);
    assert_eq!(document("The broker asks the store."), [""; 0]);
    assert_eq!(document("The command asks before it deletes rows."), [""; 0]);
}

#[test]
fn lint_reports_test_names_without_verb_or_outcome() {
    assert_eq!(test_name("urls"), ["test-name"]);
    assert_eq!(test_name("serial_without_bounds"), ["test-name"]);
    assert_eq!(broken("def test_ids_of_every_layout(): pass", Language::Python), ["test-name"]);
    assert_eq!(broken("test('one bad ID among good ones', f)", Language::Braces), ["test-name"]);
    assert_eq!(broken("@Test void ringsOfTwoIds() {}", Language::Braces), ["test-name"]);
    assert_eq!(broken("func TestOthers(t *testing.T) {}", Language::Braces), ["test-name"]);
    assert_eq!(broken("func TestLayouts(t *testing.T) {}", Language::Braces), [""; 0]);
    assert_eq!(test_name("open_rejects_ids_of_another_key"), [""; 0]);
}

#[test]
fn lint_reports_retired_words() {
    assert_eq!(rust("// The holder is told of the loss."), ["word"]);
    assert_eq!(rust("// There is room for so many."), ["word"]);
    assert_eq!(broken("# The node is given to the store back.", Language::Python), ["word"]);
    assert_eq!(broken("/* The ring goes on. */", Language::Braces), ["word"]);
    assert_eq!(broken("-- The key is read anew.", Language::Sql), ["word"]);
    assert_eq!(rust("// There are so many rows that a scan takes a second."), [""; 0]);
    assert_eq!(
        rust("// Adapted for ease of use, as usual.\nlet told = beside(\"told\");"),
        [""; 0]
    );
    assert_eq!(document("Call `told()`, and see [`anew`](beside.md)."), [""; 0]);
}

#[test]
fn lint_reports_negative_existentials() {
    assert_eq!(rust("// An election is no restart."), ["negation"]);
    assert_eq!(document("No key is in the script."), ["negation"]);
    assert_eq!(document("There is no lock. The lease is no longer valid."), [""; 0]);
}

#[test]
fn lint_reports_the_verb_be_where_a_more_specific_verb_fits() {
    assert_eq!(rust("let a = \"{what} can be of twitter\";"), ["copula"]);
    assert_eq!(document("In a forked child the node is another."), ["copula"]);
    assert_eq!(test_name("version_flag_is_that_of_the_workspace"), ["copula"]);
    assert_eq!(document("The option must be of type `u64`."), [""; 0]);
}

#[test]
fn lint_reports_compressed_clauses_and_long_sentences() {
    assert_eq!(document("The leader of etcd killed cost every process 22 s."), ["syntax"]);
    assert_eq!(rust("// A call more is a tenth of the cost."), ["syntax"]);
    assert_eq!(document(&"word ".repeat(31)), ["length"]);
    assert_eq!(document(&"A sentence has words. ".repeat(31)), [""; 0]);
}

#[test]
fn lint_requires_function_documentation_to_start_with_a_verb() {
    assert_eq!(
        rust("/// A clock that stands.\n#[inline]\npub(crate) const fn a() {}"),
        ["function"]
    );
    assert_eq!(rust("/// Whether the ring is empty.\nfn a() -> Result<(), E> {}"), ["function"]);
    assert_eq!(rust("/// Whether the ring is empty.\nfn a(b: u8) -> bool {}"), [""; 0]);
    assert_eq!(rust("/// The layout.\n///\n/// More of it.\n/// # Errors\nfn a() {}"), [""; 0]);
    assert_eq!(rust("/// Retries the request.\nfn a() {}"), [""; 0]);
    assert_eq!(rust("/// A clock that stands.\nstruct A;"), [""; 0]);
}

#[test]
fn passages_are_extracted_with_their_line_numbers() {
    let source = "// One\n// two.\nlet a = \"a b c\"; // three\n\n/// Four.\n/// ```\n/// five\n/// ```\n/// - Six\n///   seven.\nfn a() {}";
    let found = passages(source, Language::Rust);
    let found: Vec<_> = found.iter().map(|text| (text.line, text.content.as_str())).collect();
    assert_eq!(found, [(1, "One two."), (3, "three"), (5, "Four."), (9, "Six seven.")]);
    let found = markdown::passages("# Title\n\nA\nb.\n- C\n\n```\nd\n```\n| E | f |\n");
    let found: Vec<_> = found.iter().map(|text| (text.line, text.content.as_str())).collect();
    assert_eq!(found, [(1, "Title"), (3, "A b."), (5, "C"), (10, "E"), (10, "f")]);
}

#[test]
fn string_counts_as_a_message_only_if_it_is_a_sentence() {
    let message = |source: &str| {
        let passages = passages(source, Language::Rust);
        passages.iter().any(|text| text.kind == Kind::Message)
    };
    assert!(message("\"a limit that was lowered\""));
    assert!(!message("\"told\""));
    assert!(!message("\"SELECT told FROM anew WHERE here\""));
}
