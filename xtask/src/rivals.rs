//! Checks whether `flakeid inspect --guess` recognises IDs that current versions of other
//! packages generate.

use flakeid_steps::packages::Program;
use flakeid_steps::venv::Venv;
use flakeid_steps::{Failed, Outcome, Step, files, packages, root, workspace};

use crate::npm::npm;

const SOURCES: &str = "tests/rivals";
const WORK: &str = "target/rivals";
pub(crate) const NEEDED: [Program; 4] =
    [("go", "golang-go"), ("java", "openjdk-17-jdk-headless"), ("mvn", "maven"), ("npm", "npm")];
/// The required number of right guesses for a hundred IDs, or for a hundred groups of ten.
const RIGHT: usize = 95;

/// The IDs that a package has generated.
struct Generated {
    package: String,
    /// The preset of the package's layout. If several presets decode its IDs in the same way, all
    /// of them, separated by commas.
    presets: String,
    ids: Vec<String>,
}

pub(crate) fn test() -> Outcome {
    packages::ensure(&NEEDED)?;
    let flakeid = files::shown(&workspace::build_programs(&["flakeid"])?.join("flakeid"))?;
    let printed = [of_python()?, of_node()?, of_go()?, of_java()?].concat();
    let generated = printed.lines().map(parsed).collect::<Result<Vec<_>, _>>()?;
    let (mut ids, mut groups) = (Count::default(), Count::default());
    for Generated { package, presets, ids: of_package } in &generated {
        for id in of_package {
            ids.add(package, presets, &guess(&flakeid, std::slice::from_ref(id))?);
        }
        groups.add(package, presets, &guess(&flakeid, of_package)?);
    }
    println!(
        "guessed right for {} packages: {ids} IDs and {groups} groups of ten",
        generated.len()
    );
    if ids.suffices() && groups.suffices() {
        return Ok(());
    }
    Err(Failed(format!("at least {RIGHT} of 100 guesses must be right")))
}

#[derive(Default)]
struct Count {
    right: usize,
    all: usize,
}

impl Count {
    fn add(&mut self, package: &str, presets: &str, guessed: &str) {
        self.all += 1;
        if presets.split(',').any(|preset| preset == guessed) {
            self.right += 1;
        } else {
            println!("{package}: {guessed} instead of {presets}");
        }
    }

    const fn suffices(&self) -> bool {
        self.right * 100 >= self.all * RIGHT
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} of {}", self.right, self.all)
    }
}

fn parsed(line: &str) -> Result<Generated, Failed> {
    let mut parts = line.split('\t').map(str::to_owned);
    match (parts.next(), parts.next(), parts.collect::<Vec<_>>()) {
        (Some(package), Some(presets), ids) if ids.len() == 10 => {
            Ok(Generated { package, presets, ids })
        }
        _ => Err(Failed(format!("expected a package, a layout and ten IDs, found: {line}"))),
    }
}

/// Returns the preset that `inspect --guess` ranks first.
fn guess(flakeid: &str, ids: &[String]) -> Result<String, Failed> {
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let printed = Step::new(flakeid, &["inspect", "--guess"]).args(&ids).output()?;
    let first = printed.strip_prefix("{\"layout\":\"").and_then(|rest| rest.split('"').next());
    first.map(str::to_owned).ok_or_else(|| Failed(format!("expected a guess, found: {printed}")))
}

fn of_python() -> Result<String, Failed> {
    let venv = Venv::lasting("rivals")?;
    venv.pip(&["install", "-q", "-r", &format!("{SOURCES}/python/requirements.txt")])?;
    venv.python(&[&format!("{SOURCES}/python/make_ids.py")])?.output()
}

fn of_node() -> Result<String, Failed> {
    let project = format!("{WORK}/node");
    files::empty(&project)?;
    files::copy_files(&format!("{SOURCES}/node"), &project)?;
    npm(&["--prefix", &project, "ci", "--silent", "--ignore-scripts"]).run()?;
    Step::new("node", &["make-ids.mjs"]).within(&project).output()
}

fn of_go() -> Result<String, Failed> {
    let program = files::shown(&root().join(WORK).join("go"))?;
    Step::new("go", &["build", "-o", &program, "."]).within(format!("{SOURCES}/go")).run()?;
    Step::new(&program, &[]).output()
}

fn of_java() -> Result<String, Failed> {
    let jars = files::shown(&root().join(WORK).join("jars"))?;
    let fetch = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";
    Step::new("mvn", &["-q", "-B", "-f", &format!("{SOURCES}/java/pom.xml"), fetch])
        .args(&[&format!("-DoutputDirectory={jars}")])
        .run()?;
    let program = format!("{SOURCES}/java/MakeIds.java");
    Step::new("java", &["-cp", &format!("{jars}/*"), &program]).output()
}
