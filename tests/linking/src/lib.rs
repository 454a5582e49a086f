//! The C library as programs use it, and the jar for Java. This package's binary runs the
//! programs.

use std::path::PathBuf;

use flakeid_steps::Step;
use flakeid_steps::packages::Program;

mod java;

pub use java::{
    SHORT_RUN, companions, jar, jar_of, jars, javac, javadoc, native, newer_jars, older_jars,
};

/// The number of IDs that each program generates.
pub const IDS: &str = "10000000";

/// The programs that compile, link and check the programs of all languages.
pub const NEEDED: &[Program] = &[
    ("gcc", "gcc"),
    ("g++", "g++"),
    ("clang", "clang"),
    ("valgrind", "valgrind"),
    ("cmake", "cmake"),
    ("make", "make"),
    ("nm", "binutils"),
    ("pkg-config", "pkg-config"),
    ("/usr/include/jansson.h", "libjansson-dev"),
    ("javac", "openjdk-17-jdk-headless"),
    ("mvn", "maven"),
    ("go", "golang-go"),
];

/// The programs of [`NEEDED`] that build and check the jar for Java.
pub const NEEDED_FOR_JAVA: &[Program] = &[
    ("gcc", "gcc"),
    ("pkg-config", "pkg-config"),
    ("javac", "openjdk-17-jdk-headless"),
    ("mvn", "maven"),
];

/// Returns the names of the functions that the header declares, in alphabetical order.
#[must_use]
pub fn declared(header: &str) -> Vec<&str> {
    let mut declared: Vec<&str> = header
        .lines()
        .filter(|line| !line.starts_with([' ', '/', '#', '*']))
        .filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next())
        .filter(|name| name.starts_with("flakeid_"))
        .collect();
    declared.sort_unstable();
    declared
}

/// An unpacked archive of the library, and a folder for the programs that link it.
#[derive(Debug)]
pub struct Library {
    /// The folder with `lib` and `include`.
    pub prefix: PathBuf,
    /// The folder for the programs.
    pub work: PathBuf,
}

impl Library {
    /// The folder of the library itself.
    #[must_use]
    pub fn lib(&self) -> PathBuf {
        self.prefix.join("lib")
    }

    /// Returns a step whose program finds the library through pkg-config, and at run time.
    pub fn step(&self, program: &str, arguments: &[&str]) -> Step {
        Step::new(program, arguments)
            .env("PKG_CONFIG_PATH", self.lib().join("pkgconfig"))
            .env("LD_LIBRARY_PATH", self.lib())
    }
}
