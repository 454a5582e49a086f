//! A lint against circles of modules: no module may use a sibling that uses it, directly or
//! through others.
//!
//! Each folder has its own graph. The nodes are the modules of the folder and the folder's own
//! file (`mod.rs`, `lib.rs`, `main.rs`); a subfolder with all its files counts as one node. An
//! edge is a path in the code, resolved through re-exports to the file that defines the item.
//! `mod child;`, a parent's re-export of a descendant, and code that is compiled only for tests
//! are not edges.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::tokens::{Language, Token, tokens};
use flakeid_steps::files;
use flakeid_steps::{Failed, Outcome};

/// The names of a module, starting at the root of its crate.
type Names = Vec<String>;

struct Module {
    file: PathBuf,
    defined: BTreeSet<String>,
    /// The path of each imported name; `None` for names of other crates.
    imported: BTreeMap<String, Option<Names>>,
    globs: Vec<Names>,
    used: Vec<Use>,
}

struct Use {
    path: Names,
    line: usize,
    is_reexport: bool,
}

/// Checks that no modules use each other in a circle.
pub(crate) fn check(sources: &[PathBuf]) -> Outcome {
    let mut found = Vec::new();
    let is_root = |path: &&PathBuf| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
    let folders: BTreeSet<&Path> =
        sources.iter().filter(is_root).filter_map(|path| path.parent()).collect();
    for folder in folders {
        found.extend(Crate::read(folder, sources)?.circles());
    }
    if found.is_empty() {
        return Ok(());
    }
    let circles = found.iter().map(|(folder, circle)| {
        format!("modules of {} use each other:\n{circle}", folder.display())
    });
    Err(Failed(circles.collect::<Vec<_>>().join("\n")))
}

struct Crate {
    folder: PathBuf,
    modules: BTreeMap<Names, Module>,
}

impl Crate {
    fn read(folder: &Path, files: &[PathBuf]) -> Result<Self, Failed> {
        let mut sources = BTreeMap::new();
        let is_source = |file: &&PathBuf| file.extension().is_some_and(|known| known == "rs");
        for file in files.iter().filter(is_source) {
            let Ok(below) = file.strip_prefix(folder) else { continue };
            let below = below.with_extension("");
            let mut names: Names =
                below.iter().map(|name| name.to_string_lossy().into_owned()).collect();
            if names.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
                names.pop();
            }
            let text = files::text(file)?;
            sources.insert(names, (file.clone(), tokens(&text, Language::Rust)));
        }
        Ok(Self::parse(folder, sources))
    }

    fn parse(folder: &Path, sources: BTreeMap<Names, (PathBuf, Vec<Token>)>) -> Self {
        let known: BTreeSet<Names> = sources.keys().cloned().collect();
        let (mut modules, mut for_tests) = (BTreeMap::new(), Vec::new());
        for (names, (file, tokens)) in sources {
            let (imported, defined) = (BTreeMap::new(), BTreeSet::new());
            let module = Module { file, defined, imported, globs: Vec::new(), used: Vec::new() };
            let mut parser = Parser { known: &known, tokens, at: 0, inside: Vec::new(), module };
            for_tests.extend(parser.parse(&names));
            modules.insert(names, parser.module);
        }
        modules.retain(|names, _| !for_tests.iter().any(|test| names.starts_with(test)));
        Self { folder: folder.to_owned(), modules }
    }

    /// Returns the module that defines the item of a path; `None` for items of other crates.
    fn resolve(&self, path: &[String], depth: u32) -> Option<&Names> {
        let end = (0..=path.len()).rev().find(|end| self.modules.contains_key(&path[..*end]))?;
        let (found, module) = self.modules.get_key_value(&path[..end])?;
        let Some(name) = path.get(end) else { return Some(found) };
        if module.defined.contains(name) || depth > 9 {
            return Some(found);
        }
        if let Some(imported) = module.imported.get(name) {
            let onward = [imported.as_ref()?, &path[end + 1..]].concat();
            return self.resolve(&onward, depth + 1);
        }
        let by_glob = module.globs.iter().filter_map(|glob| self.resolve(glob, depth + 1));
        let has =
            |module: &Module| module.defined.contains(name) || module.imported.contains_key(name);
        let by_glob = by_glob.filter(|names| *names != found && has(&self.modules[*names]));
        let by_glob = by_glob.map(|names| [names, &path[end..]].concat()).next();
        by_glob.map_or(Some(found), |onward| self.resolve(&onward, depth + 1))
    }

    /// Returns the folder and the edges of each circle.
    fn circles(&self) -> Vec<(PathBuf, String)> {
        let mut edges = Vec::new();
        for (from, module) in &self.modules {
            for used in &module.used {
                if let Some(to) = self.resolve(&used.path, 0)
                    && to != from
                    && !(used.is_reexport && to.starts_with(from))
                {
                    let shown = used.path.join("::");
                    let place = format!("{}:{}: {shown}", module.file.display(), used.line);
                    edges.push((from, to, place));
                }
            }
        }
        let mut found = Vec::new();
        for level in self.modules.keys() {
            let node = |names: &Names| match names.strip_prefix(level.as_slice())? {
                [] => Some(String::new()),
                [child, ..] => Some(child.clone()),
            };
            let mut graph: BTreeMap<String, BTreeMap<String, &str>> = BTreeMap::new();
            for (from, to, place) in &edges {
                if let (Some(from), Some(to)) = (node(from), node(to))
                    && from != to
                {
                    graph.entry(from).or_default().entry(to).or_insert(place);
                }
            }
            let folder = self.folder.join(level.iter().collect::<PathBuf>());
            found.extend(circles_in(&graph).into_iter().map(|circle| (folder.clone(), circle)));
        }
        found
    }
}

/// Returns the edges of each group of nodes that reach each other.
fn circles_in(graph: &BTreeMap<String, BTreeMap<String, &str>>) -> Vec<String> {
    let reach = |start: &String| {
        let (mut seen, mut rest) = (BTreeSet::new(), vec![start]);
        while let Some(node) = rest.pop() {
            for next in graph.get(node).into_iter().flat_map(BTreeMap::keys) {
                if seen.insert(next) {
                    rest.push(next);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|node| (node, reach(node))).collect();
    let (mut circles, mut done) = (Vec::new(), BTreeSet::new());
    for (node, from_here) in &reached {
        let together = |other: &String| {
            from_here.contains(other) && reached.get(other).is_some_and(|back| back.contains(node))
        };
        if !together(node) || done.contains(node) {
            continue;
        }
        let mut lines = Vec::new();
        for (from, targets) in graph.iter().filter(|(from, _)| together(from)) {
            done.insert(from);
            for (to, place) in targets.iter().filter(|(to, _)| together(to)) {
                let name = |node: &String| if node.is_empty() { "mod.rs" } else { node }.to_owned();
                lines.push(format!("  {} -> {}: {place}", name(from), name(to)));
            }
        }
        circles.push(lines.join("\n"));
    }
    circles
}

/// A reader of the names that a file defines, imports and uses.
struct Parser<'a> {
    known: &'a BTreeSet<Names>,
    tokens: Vec<Token>,
    at: usize,
    /// The inline modules around the current token, with the depth of braces in each.
    inside: Vec<(String, usize)>,
    module: Module,
}

impl Parser<'_> {
    fn text(&self, offset: usize) -> &str {
        self.tokens.get(self.at + offset).map_or("", |token| token.text.as_str())
    }

    fn is_word(&self, offset: usize) -> bool {
        self.tokens.get(self.at + offset).is_some_and(Token::is_word)
    }

    /// Returns the child modules that are compiled only for tests.
    fn parse(&mut self, names: &Names) -> Vec<Names> {
        const ITEMS: [&str; 9] =
            ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "mod"];
        let mut for_tests = Vec::new();
        while self.at < self.tokens.len() {
            let here = [names.clone(), self.inside.iter().map(|(name, _)| name.clone()).collect()];
            let here = here.concat();
            let before = self.at.checked_sub(1).map_or("", |at| self.tokens[at].text.as_str());
            let (before, word) = (before.to_owned(), self.text(0).to_owned());
            match word.as_str() {
                "#" => {
                    if self.skip_attribute() {
                        for_tests.extend(self.skip_item().map(|name| [here, vec![name]].concat()));
                    }
                    continue;
                }
                "use" => {
                    let is_reexport = before == "pub" || before == ")";
                    self.at += 1;
                    self.tree(&here, &[], Some(is_reexport));
                    continue;
                }
                "macro_rules" => _ = self.module.defined.insert(self.text(2).to_owned()),
                "mod" if self.text(2) == "{" => {
                    let name = self.text(1).to_owned();
                    self.module.defined.insert(name.clone());
                    self.inside.push((name, 0));
                }
                "{" => self.inside.iter_mut().for_each(|(_, depth)| *depth += 1),
                "}" => {
                    self.inside.iter_mut().for_each(|(_, depth)| *depth -= 1);
                    self.inside.retain(|(_, depth)| *depth > 0);
                }
                // `mod name;` does not define the name in this module, because the name leads to
                // the file.
                "mod" => {}
                item if ITEMS.contains(&item) && self.is_word(1) => {
                    self.module.defined.insert(self.text(1).to_owned());
                }
                // `pub(in path)` does not use the path.
                _ if self.is_word(0)
                    && self.text(1) == "::"
                    && !["::", "in"].contains(&before.as_str()) =>
                {
                    self.tree(&here, &[], None);
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        for_tests
    }

    /// Skips an attribute. Returns whether it restricts the next item to tests.
    fn skip_attribute(&mut self) -> bool {
        let first = usize::from(self.text(1) == "!") + 2;
        let start: Vec<&str> = (first..first + 5).map(|offset| self.text(offset)).collect();
        let is_test =
            matches!(start[..], ["cfg", "(", "test", ")", ..] | ["cfg", "(", "all", "(", "test"]);
        self.skip_until(|text| text == "]");
        is_test
    }

    /// Skips an item with its attributes. Returns its name if it is declared as `mod name;`.
    fn skip_item(&mut self) -> Option<String> {
        while self.text(0) == "#" {
            self.skip_attribute();
        }
        let is_file = |parser: &Self, at| parser.text(at) == "mod" && parser.text(at + 2) == ";";
        let name = (0..5).find(|&at| is_file(self, at)).map(|at| self.text(at + 1).to_owned());
        self.skip_until(|text| text == ";" || text == "}");
        name
    }

    /// Skips tokens up to and including the first token outside all brackets that satisfies
    /// `is_end`.
    fn skip_until(&mut self, is_end: impl Fn(&str) -> bool) {
        let mut depth = 0;
        while self.at < self.tokens.len() {
            let text = self.text(0);
            match text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            let ends = depth == 0 && is_end(text);
            self.at += 1;
            if ends {
                return;
            }
        }
    }

    /// Parses a path, or the tree of paths of a `use`. `imports` is `None` for a path; for a
    /// `use`, it is whether the `use` is a re-export.
    fn tree(&mut self, here: &[String], prefix: &[String], imports: Option<bool>) {
        let mut path = prefix.to_vec();
        loop {
            match self.text(0) {
                "{" => {
                    self.at += 1;
                    while !["}", ""].contains(&self.text(0)) {
                        let before = self.at;
                        self.tree(here, &path, imports);
                        self.at += usize::from(self.text(0) == "," || self.at == before);
                    }
                    self.at += 1;
                    return;
                }
                "*" => {
                    self.at += 1;
                    if let Some(path) = self.absolute(here, &path) {
                        self.module.globs.push(path);
                    }
                    return;
                }
                "::" => self.at += 1,
                _ if self.is_word(0) => {
                    path.push(self.text(0).to_owned());
                    self.at += 1;
                    if self.text(0) == "::"
                        && (self.is_word(1) || ["{", "*"].contains(&self.text(1)))
                    {
                        continue;
                    }
                    break;
                }
                _ => return,
            }
        }
        let line = self.tokens[self.at - 1].line;
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let Some(last) = path.last() else { return };
        let mut name = last.clone();
        if self.text(0) == "as" && imports.is_some() {
            self.text(1).clone_into(&mut name);
            self.at += 2;
        }
        let absolute = self.absolute(here, &path);
        if imports.is_some() {
            self.module.imported.insert(name, absolute.clone());
        }
        if let Some(path) = absolute {
            self.module.used.push(Use { path, line, is_reexport: imports == Some(true) });
        }
    }

    /// Returns the path from the root of the crate; `None` if it starts with another crate or a
    /// local name.
    fn absolute(&self, here: &[String], path: &[String]) -> Option<Names> {
        let first = path.first()?;
        let ups = path.iter().take_while(|name| *name == "super").count();
        let child = [here, &path[..1]].concat();
        match first.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([here, &path[1..]].concat()),
            "super" => Some([here.get(..here.len().checked_sub(ups)?)?, &path[ups..]].concat()),
            _ if self.known.contains(&child) => Some([here, path].concat()),
            _ => {
                let imported = self.module.imported.get(first)?.as_ref()?;
                Some([imported, &path[1..]].concat())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(sources: &[(&str, &str)]) -> Vec<(String, String)> {
        let parsed = sources.iter().map(|(path, text)| {
            let names: Names =
                path.split('/').filter(|n| !n.is_empty()).map(str::to_owned).collect();
            (names, (PathBuf::from(path), tokens(text, Language::Rust)))
        });
        let found = Crate::parse(Path::new(""), parsed.collect()).circles();
        let shown = found.into_iter().map(|(at, circle)| (at.display().to_string(), circle));
        shown.collect()
    }

    #[test]
    fn cycle_of_three_sibling_modules_is_found() {
        let found = circles(&[
            ("", "mod a; mod b; mod c;"),
            ("a", "use crate::b::B;\nfn f() {}"),
            ("b", "pub struct B; fn g() { super::c::h() }"),
            ("c", "pub fn h() { crate::a::f() }"),
        ]);
        let edges = "  a -> b: a:1: b::B\n  b -> c: b:1: c::h\n  c -> a: c:1: a::f";
        assert_eq!(found, [(String::new(), edges.to_owned())]);
    }

    #[test]
    fn child_and_parent_modules_form_cycles_except_through_re_exports() {
        let child = ("a/b", "use super::X; pub struct Y;");
        let used = circles(&[("", "mod a;"), ("a", "mod b; use b::Y; pub struct X;"), child]);
        assert_eq!(used.len(), 1, "{used:?}");
        assert!(used[0].1.contains("b -> mod.rs") && used[0].1.contains("mod.rs -> b"));
        let reexported = ("a", "mod b; pub use b::Y; pub struct X;");
        assert!(circles(&[("", "mod a;"), reexported, child]).is_empty());
        let reexports_both =
            [("a", "mod b; mod c; pub use c::X; use b::Y;"), ("a/c", "pub struct X;")];
        assert!(circles(&[("", "mod a;"), reexports_both[0], reexports_both[1], child]).is_empty());
    }

    #[test]
    fn folder_counts_as_one_module_and_inline_module_counts_as_part_of_its_file() {
        let found = circles(&[
            ("", "mod a; mod b;"),
            ("a", "mod x; mod y;"),
            ("a/x", "use crate::b::B;"),
            ("a/y", "pub struct Y;"),
            ("b", "pub struct B; mod inline { use super::B; use crate::a::y::Y; }"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].1.contains("a -> b: a/x:1") && found[0].1.contains("b -> a: b:1"));
        assert!(circles(&[("", "mod b;"), ("b", "struct B; mod c { use super::B; }")]).is_empty());
    }

    #[test]
    fn dependency_edges_exclude_tests_other_crates_and_visibility_modifiers() {
        let b = ("b", "use crate::a::A; pub struct B;");
        for a in [
            "#[cfg(test)] mod tests { use crate::b::B; } struct A;",
            "#[cfg(all(test, loom))] #[allow(x)] fn f() { crate::b::B; } struct A;",
            "pub(in crate::b) struct A; use std::b::B; fn f() { other::b::B; }",
        ] {
            assert!(circles(&[("", "mod a; mod b;"), ("a", a), b]).is_empty(), "{a}");
        }
        let in_a_file = [("a", "#[cfg(test)] mod t; struct A;"), ("a/t", "use crate::b::B;")];
        assert!(circles(&[("", "mod a; mod b;"), in_a_file[0], in_a_file[1], b]).is_empty());
    }
}
