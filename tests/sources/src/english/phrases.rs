//! Phrases that a passage must not contain, and the search for them.
//!
//! A phrase consists of parts separated by spaces. `a|b` matches either word, `..3` matches up to three
//! words of the same clause, and `$` matches the end of a clause.

use std::collections::BTreeMap;

/// A word of a passage in lowercase, with the punctuation after the word. A code span counts as the word ``
/// ` ``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) ends_clause: bool,
    pub(crate) ends_sentence: bool,
    pub(crate) is_capital: bool,
}

/// Returns the words of a passage, without code spans, the addresses of links and punctuation.
pub(crate) fn words(content: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for part in without_code(content).split_whitespace() {
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '`';
        let Some(start) = part.find(is_letter) else {
            if let (Some(last), true) = (words.last_mut(), part.contains(['—', '–', '|', '=']))
            {
                last.ends_clause = true;
            }
            continue;
        };
        let end = part.rfind(is_letter).map_or(part.len(), |at| at + 1);
        let end = (end..=part.len()).find(|end| part.is_char_boundary(*end)).unwrap_or(part.len());
        let (word, after) = (&part[start..end], &part[end..]);
        if let (Some(last), true) = (words.last_mut(), part[..start].contains('(')) {
            last.ends_clause = true;
        }
        words.push(Word {
            text: word.to_lowercase(),
            ends_clause: after.contains([',', ';', ':', '.', '!', '?', ')']),
            ends_sentence: after.contains(['.', '!', '?']),
            is_capital: word.starts_with(char::is_uppercase),
        });
    }
    words
}

/// Replaces code spans and placeholders by `` ` ``, and removes the addresses of links.
fn without_code(content: &str) -> String {
    let mut text = String::new();
    let mut rest = content;
    while let Some(at) = rest.find(['`', '{', ']']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let (close, shown) = match rest.as_bytes() {
            [b'`', b'`', ..] => ("``", "`"),
            [b'`', ..] => ("`", "`"),
            [b'{', ..] => ("}", "`"),
            [b']', b'(', ..] => (")", ""),
            _ => ("", ""),
        };
        let start = close.len().max(1);
        let end = if close.is_empty() { Some(0) } else { rest[start..].find(close) };
        text.push_str(shown);
        rest = end.map_or("", |end| &rest[start + end + close.len()..]);
    }
    text + rest
}

enum Part {
    Words(Vec<&'static str>),
    Gap(usize),
    End,
}

fn parse(phrase: &'static str) -> Vec<Part> {
    let part = |word: &'static str| match word.strip_prefix("..") {
        Some(count) => Part::Gap(count.parse().unwrap_or(1)),
        None if word == "$" => Part::End,
        None => Part::Words(word.split('|').collect()),
    };
    phrase.split(' ').map(part).collect()
}

/// Returns the number of words that a phrase matches at the start of `words`.
fn matched(parts: &[Part], words: &[Word], before: Option<&Word>) -> Option<usize> {
    let Some((part, rest)) = parts.split_first() else { return Some(0) };
    let ends = |word: Option<&Word>| word.is_none_or(|word| word.ends_clause);
    match part {
        Part::End => (words.is_empty() || ends(before)).then_some(0),
        Part::Gap(most) => (0..=*most).find_map(|count| {
            let is_one_clause =
                !words.get(..count)?.iter().chain(before).any(|word| word.ends_clause);
            let found = matched(rest, &words[count..], words[..count].last().or(before))?;
            (count == 0 || is_one_clause).then_some(count + found)
        }),
        Part::Words(known) => {
            let word = words.first().filter(|word| known.contains(&word.text.as_str()))?;
            let crosses = before.is_some_and(|before| before.ends_clause);
            if crosses { None } else { Some(1 + matched(rest, &words[1..], Some(word))?) }
        }
    }
}

/// A phrase, the longer phrases in which it is accepted, and the advice.
pub(crate) type Rule = (&'static str, &'static [&'static str], &'static str);

struct Phrase {
    parts: Vec<Part>,
    exceptions: Vec<Vec<Part>>,
    advice: &'static str,
}

/// A set of phrases, indexed by their first words.
pub(crate) struct Phrases(BTreeMap<&'static str, Vec<(usize, &'static str)>>, Vec<Phrase>);

impl Phrases {
    pub(crate) fn new(rules: &[Rule]) -> Self {
        let mut by_word: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut phrases = Vec::new();
        for (phrase, exceptions, advice) in rules {
            let first = phrase.split(' ').next().unwrap_or_default();
            for word in first.split('|') {
                by_word.entry(word).or_default().push((phrases.len(), *phrase));
            }
            let exceptions = exceptions.iter().map(|exception| parse(exception)).collect();
            phrases.push(Phrase { parts: parse(phrase), exceptions, advice });
        }
        Self(by_word, phrases)
    }

    /// Returns the position and the advice of each phrase in a passage.
    pub(crate) fn find(&self, words: &[Word]) -> Vec<(usize, &'static str)> {
        let mut found = Vec::new();
        for (at, word) in words.iter().enumerate() {
            for (phrase, _) in self.0.get(word.text.as_str()).into_iter().flatten() {
                let phrase = &self.1[*phrase];
                let Some(length) = matched(&phrase.parts, &words[at..], None) else { continue };
                let covers = |exception: &Vec<Part>, start: usize| {
                    matched(exception, &words[start..], None)
                        .is_some_and(|covered| start + covered >= at + length)
                };
                let starts = at.saturating_sub(5)..=at;
                let is_good =
                    starts.clone().any(|start| phrase.exceptions.iter().any(|e| covers(e, start)));
                if !is_good {
                    found.push((at, phrase.advice));
                }
            }
        }
        found
    }
}
