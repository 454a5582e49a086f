//! The API references of all languages, in the folder `api` of the built guide.

use flakeid_steps::venv::Venv;
use flakeid_steps::{Outcome, Step, files, packages, root};

use crate::linters;
use crate::npm::installed;

/// The folder of the references in the built guide.
const TO: &str = "target/docs/book/api";

/// The folder of intermediate files.
const WORK: &str = "target/docs/api";

/// The crates with documentation for users, without the beginning of their names.
const CRATES: [&str; 7] = ["", "-conformance", "-core", "-json", "-protocol", "-server", "-stores"];

/// The modules of Python that require a framework. The guide describes them.
const OPTIONAL_MODULES: [&str; 5] = [
    "!flakeid.compat",
    "!flakeid.django",
    "!flakeid.pydantic",
    "!flakeid.rest_framework",
    "!flakeid.sqlalchemy",
];

/// Builds all references. The tools are pinned, except for rustdoc, javadoc, Go and Doxygen.
pub(crate) fn build() -> Outcome {
    packages::ensure(&[
        ("doxygen", "doxygen"),
        ("go", "golang-go"),
        ("javadoc", "openjdk-17-jdk-headless"),
        ("mvn", "maven"),
    ])?;
    files::empty(TO)?;
    files::empty(WORK)?;
    rust()?;
    python()?;
    typescript()?;
    c()?;
    go()?;
    flakeid_linking::javadoc(&root().join(TO).join("java"))
}

fn rust() -> Outcome {
    files::empty("target/doc")?;
    let names = CRATES.map(|name| format!("--package=flakeid{name}"));
    let names = names.each_ref().map(String::as_str);
    Step::cargo(&["check", "--locked", "--all-features", "--quiet"]).args(&names).run()?;
    // rustdoc links only to crates whose folders exist, and cargo removes the folder of each crate that it is about to
    // document. One job at a time therefore keeps the folders of all other crates.
    for name in CRATES {
        files::make_folder(format!("target/doc/flakeid{}", name.replace('-', "_")))?;
    }
    Step::cargo(&["doc", "--locked", "--no-deps", "--all-features", "--quiet", "--jobs=1"])
        .args(&names)
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    files::copy_folder("target/doc", &format!("{TO}/rust"))?;
    let start = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>flakeid for Rust</title>\n\
                 <meta http-equiv=\"refresh\" content=\"0; url=flakeid/index.html\">\n</head>\n<body>\n\
                 <a href=\"flakeid/index.html\">flakeid</a>\n</body>\n</html>\n";
    files::write(format!("{TO}/rust/index.html"), start)
}

/// Builds the reference of Python from the stub of the extension, because the stub contains the types and the docstrings
/// of the extension.
fn python() -> Outcome {
    let package = format!("{WORK}/python/flakeid");
    files::copy_folder("python/flakeid", &package)?;
    let stub = files::text(format!("{package}/_flakeid.pyi"))?;
    // The package imports private functions that the stub lacks.
    let module = format!(
        "from __future__ import annotations\n{stub}\n\ndef __getattr__(name):\n    \
         if name == \"__version__\" or not name.startswith(\"__\"):\n        \
         return lambda *_, **__: None\n    raise AttributeError(name)\n"
    );
    files::write(format!("{package}/_flakeid.py"), module)?;
    let tools: Venv = linters::from_pypi()?;
    let to = files::shown(&root().join(TO).join("python"))?;
    Step::new(&tools.program("pdoc")?, &["--output-directory", &to, "flakeid"])
        .args(&OPTIONAL_MODULES)
        .env("PYTHONPATH", &files::shown(&root().join(WORK).join("python"))?)
        .run()
}

fn typescript() -> Outcome {
    let config = files::shown(&root().join(WORK).join("tsconfig.json"))?;
    let types = files::shown(&root().join("node/index.d.ts"))?;
    let text = format!(
        "{{\"compilerOptions\":{{\"module\":\"nodenext\",\"skipLibCheck\":true,\"noEmit\":true,\"types\":[]}},\
         \"files\":[{types:?}]}}\n"
    );
    files::write(&config, text)?;
    let to = files::shown(&root().join(TO).join("typescript"))?;
    installed("typedoc/bin/typedoc", &["--tsconfig", &config, "--entryPoints", &types])?
        .args(&["--out", &to, "--name", "flakeid-core", "--readme", "none", "--disableSources"])
        .args(&["--logLevel", "Error"])
        .run()
}

fn c() -> Outcome {
    let to = files::shown(&root().join(TO))?;
    let settings = format!(
        "PROJECT_NAME = \"flakeid for C\"\nINPUT = include/flakeid.h\nOUTPUT_DIRECTORY = \"{to}\"\nHTML_OUTPUT = c\n\
         GENERATE_LATEX = NO\nOPTIMIZE_OUTPUT_FOR_C = YES\nEXTRACT_ALL = YES\nJAVADOC_AUTOBRIEF = YES\n\
         HAVE_DOT = NO\nSOURCE_BROWSER = NO\nVERBATIM_HEADERS = NO\nFULL_PATH_NAMES = NO\nQUIET = YES\n"
    );
    let file = format!("{WORK}/Doxyfile");
    files::write(&file, settings)?;
    Step::new("doxygen", &[&file]).run()
}

/// Writes the documentation that `go doc` prints as a page.
fn go() -> Outcome {
    let text = Step::new("go", &["-C", "go", "doc", "-all", "."]).output()?;
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>flakeid for Go</title>\n\
         <style>:root{{color-scheme:light dark}}body{{margin:2em auto;max-width:60em;padding:0 1em}}\
         pre{{overflow-x:auto}}</style>\n</head>\n<body>\n<h1>flakeid for Go</h1>\n<pre>\n{text}</pre>\n</body>\n</html>\n"
    );
    files::make_folder(format!("{TO}/go"))?;
    files::write(format!("{TO}/go/index.html"), page)
}
