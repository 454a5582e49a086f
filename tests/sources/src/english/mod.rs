//! A lint of the English in comments, messages, test names and documents. CONTRIBUTING.md contains the
//! rules.

mod markdown;
mod passages;
mod phrases;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::tokens::Language;
use flakeid_steps::{Failed, Outcome, files, root};
use passages::Kind;
use rules::Violation;

/// The file with the accepted number of findings for each file and rule. The numbers may only decrease.
const BASELINE: &str = "tests/sources/english-baseline.txt";

/// Generated files, and the files of this lint that quote bad English.
const EXCLUDED: [&str; 8] = [
    "benches/RESULTS.md",
    "benches/keys/RESULTS.md",
    "benches/keys/table.md",
    "crates/flakeid-server/src/grpc/flakeid.v1.rs",
    "include/flakeid.h",
    "tests/sources/src/english/rules.rs",
    "tests/sources/src/english/tests.rs",
    "xtask/linters",
];

/// The folder with strings that several languages compare, which are data and not messages.
const DATA: &str = "tests/vectors";

struct Finding {
    file: PathBuf,
    line: usize,
    violation: Violation,
}

/// The findings, grouped by file and rule.
type Findings = BTreeMap<(PathBuf, &'static str), Vec<Finding>>;

fn find(sources: &[PathBuf]) -> Result<Findings, Failed> {
    let mut findings = Findings::new();
    for file in sources {
        let extension =
            file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let language = Language::of_extension(extension);
        let is_excluded = EXCLUDED.iter().any(|excluded| file.starts_with(excluded));
        if is_excluded || (language.is_none() && extension != "md") {
            continue;
        }
        let source = files::text(file)?;
        let passages = language.map_or_else(
            || markdown::passages(&source),
            |language| passages::passages(&source, language),
        );
        let is_data = file.starts_with(DATA);
        for text in passages.iter().filter(|text| !is_data || text.kind != Kind::Message) {
            for violation in rules::check(text) {
                let key = (file.clone(), violation.rule);
                let finding = Finding { file: file.clone(), line: text.line, violation };
                findings.entry(key).or_default().push(finding);
            }
        }
    }
    Ok(findings)
}

fn lines<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let mut lines = String::new();
    for Finding { file, line, violation } in findings {
        let Violation { rule, excerpt, advice } = violation;
        _ = writeln!(lines, "{}:{line}: {rule}: \"{excerpt}\" ({advice})", file.display());
    }
    lines
}

/// Prints the findings in the files below `folders`.
pub(crate) fn list(sources: &[PathBuf], folders: &[String]) -> Outcome {
    let is_below = |file: &&PathBuf| folders.iter().any(|folder| file.starts_with(folder));
    let chosen: Vec<PathBuf> = sources.iter().filter(is_below).cloned().collect();
    if chosen.is_empty() {
        return Err(Failed(format!("no files below {}", folders.join(", "))));
    }
    let findings = find(&chosen)?;
    let mut all: Vec<&Finding> = findings.values().flatten().collect();
    all.sort_by_key(|finding| (&finding.file, finding.line));
    let count = all.len();
    println!("{}{count} findings in {} files", lines(all.into_iter()), chosen.len());
    Ok(())
}

/// Writes the baseline, unless the number of findings would increase.
pub(crate) fn write_baseline(sources: &[PathBuf]) -> Outcome {
    let findings = find(sources)?;
    let mut content = String::new();
    for ((file, rule), found) in &findings {
        _ = writeln!(content, "{} {rule} {}", file.display(), found.len());
    }
    let total = findings.values().map(Vec::len).sum::<usize>();
    if root().join(BASELINE).exists() {
        let before = baseline()?.values().sum::<usize>();
        if total > before {
            return Err(Failed(format!(
                "the baseline would grow from {before} to {total} findings"
            )));
        }
    }
    files::write(BASELINE, content)?;
    println!("{BASELINE}: {total} findings");
    Ok(())
}

fn baseline() -> Result<BTreeMap<(PathBuf, String), usize>, Failed> {
    let parse = |line: &str| {
        let [file, rule, count] = line.split(' ').collect::<Vec<_>>().try_into().ok()?;
        Some(((PathBuf::from(file), rule.to_owned()), count.parse().ok()?))
    };
    let malformed = |line| Failed(format!("{BASELINE}: not a file, a rule and a count: {line}"));
    files::text(BASELINE)?.lines().map(|line| parse(line).ok_or_else(|| malformed(line))).collect()
}

/// Checks that no file has more findings of a rule than the baseline.
pub(crate) fn check(sources: &[PathBuf]) -> Outcome {
    let findings = find(sources)?;
    let baseline = baseline()?;
    let (mut more, mut total) = (String::new(), 0);
    for ((file, rule), found) in &findings {
        total += found.len();
        let known = baseline.get(&(file.clone(), (*rule).to_owned())).copied().unwrap_or(0);
        if found.len() > known {
            more.push_str(&lines(found.iter()));
            _ = writeln!(
                more,
                "{}: {} findings of {rule}, {known} known",
                file.display(),
                found.len()
            );
        }
    }
    if !more.is_empty() {
        return Err(Failed(format!("{more}English: see CONTRIBUTING.md, Style")));
    }
    let known = baseline.values().sum::<usize>();
    if total < known {
        println!(
            "English: {total} findings, {known} in {BASELINE}; to shrink it: cargo run -p \
             flakeid-source-lints -- --write-baseline"
        );
    }
    Ok(())
}
