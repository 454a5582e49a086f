//! The rules of the style guide that a program can check.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::passages::{Kind, Passage};
use super::phrases::{Phrases, Rule, Word, words};

/// The known verbs in their base form, sorted. Verbs that are also nouns are marked `noun`.
const VERBS: &str = include_str!("verbs.txt");

/// The largest number of words in a sentence of a document.
const LONGEST: usize = 30;

/// Pronouns without a particular component (patterns A and C).
const PERSONS: [Rule; 2] = [
    (
        "whoever|whichever|nobody|somebody|everybody|nobody's|somebody's|everybody's",
        &[
            "whichever is|comes longer|later|earlier|larger|smaller|sooner|first|shorter|higher|lower|more|less|greater",
        ],
        "name the component",
    ),
    (
        "who wait|waits|waited|asks|leases|needs|wants",
        &["those|users|people|callers|one|anyone|someone|readers who"],
        "name the component",
    ),
];

/// Prepends the nouns of things, which are not agents, to a phrase.
macro_rules! things {
    ($phrase:literal) => {
        concat!(
            "id|ids|store|stores|file|files|folder|folders|row|rows|table|tables|page|pages|layout|layouts|",
            "preset|presets|clock|clocks|vectors|namespace|namespaces|block|blocks|ring|rings|token|tokens|",
            "text|history ",
            $phrase
        )
    };
}

/// Things that act like persons (pattern C).
const AGENTS: [Rule; 3] = [
    (
        things!("know|knows|knew|tell|tells|say|says|said|asks|forget|forgets|forgot"),
        &[things!("says otherwise")],
        "name the component that acts, or: contains, returns, loses",
    ),
    (
        things!(
            "cannot|can|may|might|must|does|do|did|will|could|has|have|had|should|itself|also|never ..2 \
             know|tell|say|ask|forget|forgotten"
        ),
        &[],
        "name the component that acts, or: contains, returns, loses",
    ),
    ("folder|name|preset|text|path may|can|must stand for", &[], "is accepted as, matches"),
];

/// Negated nouns instead of negated verbs (pattern F).
const NEGATIONS: [Rule; 3] = [
    (
        "is|are|was|were no",
        &[
            "there is|are|was|were no",
            "is|are|was|were no longer|more|fewer|less|later|earlier|newer|older|larger|smaller|greater|higher|lower|better|worse|different|shorter|slower|faster|further",
            "is|are|was|were no $",
        ],
        "negate the verb: is not, does not",
    ),
    ("no ..1 is in|on the|this|its", &[], "negate the verb: does not contain"),
    ("without no", &[], "two negatives"),
];

/// Forms of "be" and genitives instead of verbs (pattern G).
const COPULAS: [Rule; 3] = [
    (
        "can|could|may|might|must|would|will|should be of",
        &["..1 be of type|the|this|any"],
        "a verb: could be from, belongs to",
    ),
    ("is|are another $", &[], "a verb: differs, leases another node"),
    ("is|are|was|were that|those of", &[], "a verb: matches, equals, comes from"),
];

/// Compressed or inverted clauses (pattern H).
const SYNTAX: [Rule; 5] = [
    (
        "a|an call|id|node|step|word|byte|bit|row|thread|process more",
        &[],
        "an additional …, another …",
    ),
    (
        "killed|restarted|restored|stopped|closed|retired|renewed cost|costs",
        &[
            "is|are|was|were|been killed|restarted|restored|stopped|closed|retired|renewed cost|costs",
        ],
        "killing the leader cost",
    ),
    ("the other|wrong way round", &[], "reversed"),
    ("so long after|before", &[], "how long after what?"),
    ("of which the first|second|third|last", &[], "a sentence of its own"),
];

/// Pronouns without a noun (pattern B).
const PRONOUNS: [Rule; 2] = [
    ("that there is|are|was|were $", &[], "name the noun, or delete the clause"),
    ("those two|three|four $", &[], "repeat the noun"),
];

/// Private and literal words instead of standard terms (pattern E).
const WORDS: [Rule; 37] = [
    ("told", &[], "reported, distinguished, returned"),
    ("tell|tells ..5 apart", &[], "distinguish"),
    ("noticed|notices|noticing", &[], "detected"),
    ("go|goes|going|gone|went on", &[], "continue, resume"),
    ("anew", &[], "again, new"),
    ("in vain", &[], "never succeeds"),
    ("patience|patient", &[], "timeout"),
    ("texts", &[], "strings, messages"),
    (
        "a text",
        &[
            "a text file|form|column|field|editor|box|area|format|protocol|node|output|representation|message",
        ],
        "a string, a message",
    ),
    ("asks|asked|asking for", &[], "requests, requires"),
    ("ask for", &[], "request, require"),
    ("give|gives|gave|given|giving ..4 back", &[], "release"),
    ("passed|passes|passing|pass over", &[], "skip"),
    ("left|leave|leaves|leaving ..3 out", &[], "omit"),
    ("shown|show|shows out", &[], "disconnect"),
    ("restoration|restorations", &[], "restore"),
    ("undone", &[], "decoded, reverted"),
    ("small|capital letters", &[], "lowercase, uppercase"),
    ("usual", &["as|than usual"], "default"),
    ("beside", &[], "next to, besides"),
    ("besides its|their|the", &[], "next to, in addition to"),
    ("past this library", &[], "bypassing this library"),
    ("reads|read less", &[], "goes backwards"),
    ("so many", &["so many ..6 that|as"], "the given number"),
    ("so much", &["so much ..4 that|as"], "the given amount"),
    ("its|their|your|his share", &[], "rate limit"),
    ("slow|fast way", &[], "slow path, fast path"),
    ("rising", &[], "increasing"),
    ("stand|stands|stood|standing for", &[], "is accepted as, means"),
    (
        "of use",
        &["ease|terms|conditions|kind|kinds|time|times|out|case|order|pattern|patterns of use"],
        "usable",
    ),
    ("rests|rest|rested on", &["the rest on"], "depends on"),
    (
        "id|ids|ring|rings|token|tokens|folder|folders|namespace|database|generator|generators ..2 made",
        &[],
        "generated, created",
    ),
    ("made|makes|make ids|id", &["makes|make id|ids ..1 unique|monotonic"], "generate"),
    ("sealed|hidden|keyed id|ids", &[], "public ID"),
    ("past|beyond this|the library", &[], "bypassing"),
    ("hand|hands|handed|handing back", &[], "release, return"),
    ("passed|passes|pass on to", &[], "forwarded to"),
];

struct Rules {
    phrases: Vec<(&'static str, Phrases)>,
    verbs: BTreeSet<&'static str>,
    nouns: BTreeSet<&'static str>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let phrases = [
        ("agent", Phrases::new(&AGENTS)),
        ("copula", Phrases::new(&COPULAS)),
        ("negation", Phrases::new(&NEGATIONS)),
        ("person", Phrases::new(&PERSONS)),
        ("pronoun", Phrases::new(&PRONOUNS)),
        ("syntax", Phrases::new(&SYNTAX)),
        ("word", Phrases::new(&WORDS)),
    ];
    let lines = || {
        VERBS
            .lines()
            .map(|line| line.split_once(' ').map_or((line, false), |(verb, _)| (verb, true)))
    };
    Rules {
        phrases: phrases.into(),
        verbs: lines().map(|(verb, _)| verb).collect(),
        nouns: lines().filter(|(_, is_noun)| *is_noun).map(|(verb, _)| verb).collect(),
    }
});

/// A violation of a rule: the rule's name, the words around the place, and the advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) rule: &'static str,
    pub(crate) excerpt: String,
    pub(crate) advice: &'static str,
}

/// Returns the violations in a passage.
pub(crate) fn check(text: &Passage) -> Vec<Violation> {
    let words = words(&text.content);
    let violation = |rule, at: usize, advice| {
        let excerpt =
            words.iter().skip(at.saturating_sub(3)).take(10).map(|word| word.text.as_str());
        Violation { rule, excerpt: excerpt.collect::<Vec<_>>().join(" "), advice }
    };
    let mut found = Vec::new();
    if let Some((at, advice)) = opening(text, &words) {
        found.push(violation("opening", at, advice));
    }
    match text.kind {
        Kind::TestName | Kind::ShortTestName => {
            found.extend(test_name(text, &words).map(|advice| violation("test-name", 0, advice)));
        }
        Kind::Function { returns_bool } => {
            found.extend(
                function(&words, returns_bool).map(|advice| violation("function", 0, advice)),
            );
        }
        Kind::Paragraph => {
            let long = long_sentences(&words).into_iter();
            found.extend(long.map(|at| violation("length", at + 3, "at most 30 words a sentence")));
        }
        _ => {}
    }
    for (rule, phrases) in &RULES.phrases {
        let places = phrases.find(&words).into_iter();
        found.extend(places.map(|(at, advice)| violation(rule, at, advice)));
    }
    found
}

/// Checks that no sentence begins with a what- or who-clause (pattern A), and that the passage does not begin with a
/// pronoun (B). Returns the position and the advice otherwise.
fn opening(text: &Passage, words: &[Word]) -> Option<(usize, &'static str)> {
    const CLAUSES: [&str; 5] = ["what", "whatever", "who", "whoever", "whichever"];
    const PRONOUNS: [&str; 6] = ["it", "its", "their", "them", "they", "those"];
    const GOOD_AFTER_AS: [&str; 7] = ["a", "an", "long", "of", "soon", "well", "with"];
    let is_document = text.kind == Kind::Paragraph;
    if matches!(text.kind, Kind::TestName | Kind::ShortTestName | Kind::Fragment) {
        return None;
    }
    let (first, second) =
        (words.first()?.text.as_str(), words.get(1).map(|word| word.text.as_str()));
    let is_documentation = matches!(text.kind, Kind::Documentation | Kind::Function { .. });
    if first == "others" || (is_documentation && PRONOUNS.contains(&first)) {
        return Some((0, "repeat the noun"));
    }
    let is_comment = !is_document && text.kind != Kind::Message;
    let is_bad_first = match first {
        "as" => is_comment && !second.is_some_and(|second| GOOD_AFTER_AS.contains(&second)),
        "how" | "why" => !is_document,
        _ => false,
    };
    let starts = words.iter().enumerate().filter(|(at, word)| {
        let is_start = *at == 0 || (words[at - 1].ends_sentence && word.is_capital);
        is_start && (word.is_capital || !is_document)
    });
    let is_bad = |&(at, word): &(usize, &Word)| {
        (at == 0 && is_bad_first) || CLAUSES.contains(&word.text.as_str())
    };
    let (at, _) = starts.filter(is_bad).find(|_| !text.content.contains('?'))?;
    Some((at, "start with a verb or a noun"))
}

/// Checks that a function's documentation starts with a verb. Returns the advice otherwise.
fn function(words: &[Word], returns_bool: bool) -> Option<&'static str> {
    const ADVERBS: [&str; 6] = ["always", "also", "immediately", "atomically", "never", "then"];
    let first = words.iter().find(|word| !ADVERBS.contains(&word.text.as_str()))?;
    match first.text.as_str() {
        "the" | "deprecated" | "safety" => None,
        "whether" if returns_bool => None,
        "whether" => Some("\"Checks that …\": the function does not return a bool"),
        "says" | "tells" => Some("Returns, Reports"),
        "times" if words.get(1).is_some_and(|word| word.text == "out") => None,
        word if base_form(word).is_some() => None,
        word if word.ends_with('s') => {
            Some("start with a verb in the third person (or add it to verbs.txt)")
        }
        _ => Some("start with a verb in the third person"),
    }
}

/// Checks that a test's name has a subject, a verb and an outcome (pattern D). Returns the advice otherwise.
fn test_name(text: &Passage, words: &[Word]) -> Option<&'static str> {
    const OPENINGS: [&str; 13] = [
        "what", "whatever", "who", "whoever", "nobody", "nothing", "how", "why", "others", "it",
        "they", "those", "its",
    ];
    const SURE: [&str; 24] = [
        "is", "are", "was", "were", "be", "been", "has", "have", "had", "does", "do", "did", "can",
        "cannot", "could", "may", "might", "must", "will", "would", "should", "doesn't", "can't",
        "isn't",
    ];
    let first = words.first()?;
    let all_that = words.iter().take(2).map(|word| word.text.as_str()).eq(["all", "that"]);
    if OPENINGS.contains(&first.text.as_str()) || all_that {
        return Some("start with the subject, a noun");
    }
    if text.kind == Kind::ShortTestName {
        return None;
    }
    if words.len() < 3 {
        return Some("subject, verb and outcome: at least 3 words");
    }
    let last = words.len() - 1;
    let is_verb = |(at, word): (usize, &Word)| {
        let word = word.text.as_str();
        let base = base_form(word).or_else(|| RULES.verbs.get(word).copied());
        SURE.contains(&word)
            || base.is_some_and(|base| !RULES.nouns.contains(base) || (at > 0 && at < last))
            || (word == "times" && words.get(at + 1).is_some_and(|next| next.text == "out"))
    };
    let has_verb = words.iter().enumerate().any(is_verb);
    (!has_verb).then_some("has no verb (or add it to verbs.txt): subject, verb, outcome")
}

/// Returns the base form of a known verb in the third person.
fn base_form(word: &str) -> Option<&'static str> {
    let base = match word {
        "is" => return Some("be"),
        "has" => return Some("have"),
        "does" => "do",
        _ => word.strip_suffix('s')?,
    };
    let known = |base: &str| RULES.verbs.get(base).copied();
    let without_ies = || base.strip_suffix("ie").and_then(|stem| known(&format!("{stem}y")));
    known(base).or_else(|| base.strip_suffix('e').and_then(known)).or_else(without_ies)
}

/// Returns the start of each sentence that is too long (pattern H).
fn long_sentences(words: &[Word]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, word) in words.iter().enumerate() {
        let is_end = at + 1 == words.len()
            || (word.ends_sentence && words[at + 1].is_capital)
            || (word.ends_sentence && words[at + 1].text.starts_with('`'));
        if is_end {
            if at + 1 - start > LONGEST {
                found.push(start);
            }
            start = at + 1;
        }
    }
    found
}
