//! Tests of leases and SQL on `MySQL` instead of `MariaDB`. Debian's stable release contains only
//! `MariaDB`, so the packages of its unstable release are unpacked into a folder, with the C
//! library that they need.

use std::path::Path;

use flakeid_steps::packages::Program;
use flakeid_steps::{Failed, Outcome, Step, files, packages, root};

use crate::campaign;

const WORK: &str = "target/mysql";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
pub(crate) const NEEDED: [Program; 4] = [
    ("apt-get", "apt"),
    ("dpkg-deb", "dpkg"),
    ("mariadb", "mariadb-client"),
    (KEYRING, "debian-archive-keyring"),
];

pub(crate) fn test() -> Outcome {
    packages::ensure(&NEEDED)?;
    let folder = root().join(WORK).join("root");
    if !folder.join("usr/sbin/mysqld").exists() {
        fetch(&folder)?;
    }
    let folder = files::shown(&folder)?;
    let on_mysql = |package, tests, chosen: &[&str]| {
        let step =
            Step::cargo(&["test", "--locked", "-p", package, "--all-features", "--test", tests]);
        step.env("FLAKEID_MYSQL", &folder).args(&["--"]).args(chosen).run()
    };
    // The tests of replicas and clusters are skipped, because they are written for MariaDB.
    on_mysql("flakeid-stores", "mysql", &["--skip", "galera", "--skip", "failover"])?;
    on_mysql("flakeid-cli", "cli", &["sql::mysql::"])?;
    campaign::on_mysql(&folder)?;
    println!("\ncargo xtask mysql: everything passed");
    Ok(())
}

/// Returns the mirror from which this system gets its Debian packages.
fn mirror() -> Result<String, Failed> {
    let format = ["indextargets", "--format", "$(LABEL) $(SITE)", "Created-By: Packages"];
    let sites = Step::new("apt-get", &format).output()?;
    let site = sites.lines().find_map(|line| line.strip_prefix("Debian "));
    site.map(str::to_owned).ok_or_else(|| {
        Failed("apt has no source of Debian packages: on Debian, run `apt-get update`".to_owned())
    })
}

/// Downloads and unpacks the packages. apt uses a separate state here, so it checks signatures
/// but does not change this system.
fn fetch(to: &Path) -> Outcome {
    let work = root().join(WORK);
    files::empty(&work)?;
    for folder in ["apt/lists/partial", "apt/cache/archives/partial"] {
        files::make_folder(work.join(folder))?;
    }
    let work = files::shown(&work)?;
    files::write(format!("{WORK}/apt/status"), "")?;
    let source = format!("deb [signed-by={KEYRING}] {} sid main\n", mirror()?);
    files::write(format!("{WORK}/apt/sources.list"), source)?;
    let settings = format!(
        "Dir::Etc::SourceList \"{work}/apt/sources.list\";
         Dir::Etc::SourceParts \"/dev/null\";
         Dir::Etc::Preferences \"/dev/null\";
         Dir::Etc::PreferencesParts \"/dev/null\";
         Dir::State::Lists \"{work}/apt/lists\";
         Dir::State::status \"{work}/apt/status\";
         Dir::Cache \"{work}/apt/cache\";
         Debug::NoLocking \"true\";
         APT::Architecture \"amd64\";
         APT::Install-Recommends \"false\";\n"
    );
    files::write(format!("{WORK}/apt/apt.conf"), settings)?;
    let apt_get = |arguments| {
        Step::new("apt-get", arguments).env("APT_CONFIG", format!("{work}/apt/apt.conf")).run()
    };
    apt_get(&["update", "-q"])?;
    apt_get(&["install", "-q", "-y", "--download-only", "mysql-server-core", "mysql-client-core"])?;
    let packages = files::with_extension(format!("{WORK}/apt/cache/archives"), "deb")?;
    if packages.is_empty() {
        return Err(Failed("apt-get fetched no packages".to_owned()));
    }
    let to = files::shown(to)?;
    files::make_folder(&to)?;
    packages
        .iter()
        .try_for_each(|package| Step::new("dpkg-deb", &["-x", &files::shown(package)?, &to]).run())
}
