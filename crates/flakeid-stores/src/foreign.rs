//! Hints for URLs in the formats of other libraries.

/// Names that other libraries use for a scheme of flakeid.
const ALIASES: [(&str, &str); 6] = [
    ("pgsql", "postgresql"),
    ("psql", "postgresql"),
    ("postgis", "postgresql"),
    ("mysql2", "mysql"),
    ("sqlite3", "sqlite"),
    ("file", "sqlite"),
];

/// Returns the problem of a URL in the format of another library, with the corrected URL. The corrected URL contains
/// placeholders for the user and the password, and no options. Returns `None` if the format is unknown. `is_known`
/// checks for a scheme of flakeid.
pub(crate) fn problem(url: &str, is_known: impl Fn(&str) -> bool) -> Option<String> {
    let (java, inner) = match url.split_once(':') {
        Some((java @ ("jdbc" | "r2dbc"), inner)) => (Some(java), inner),
        _ => (None, url),
    };
    let (given, rest) = inner.split_once(':')?;
    let (name, driver) =
        given.split_once('+').map_or((given, None), |(name, driver)| (name, Some(driver)));
    let alias = ALIASES.into_iter().find(|(alias, _)| *alias == name);
    let scheme = alias.map_or(name, |(_, scheme)| scheme);
    if !is_known(scheme) {
        return None;
    }
    let problem = match (java, driver) {
        (Some(java), _) => format!("{java}:{name} is a URL for Java's drivers"),
        (None, Some(_)) => format!("{given} names a driver of another library"),
        (None, None) if alias.is_some() => format!("{name} is not a scheme of flakeid"),
        (None, None) if scheme == "sqlite" => "sqlite: must be followed by //".to_owned(),
        (None, None) => return None,
    };
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let rest = rest.split('?').next().unwrap_or_default();
    if scheme == "sqlite" {
        let path = rest.strip_prefix("./").unwrap_or(rest);
        // A database in memory cannot be a store.
        return (!path.is_empty() && !path.contains(':'))
            .then(|| format!("{problem}; write sqlite://{path}"));
    }
    // The last `@` is the separator, because a password that was not percent-encoded may contain an `@`.
    let (user, place) =
        rest.rsplit_once('@').map_or((None, rest), |(user, place)| (Some(user), place));
    let user = if user.is_some() || java.is_some() { "USER:PASSWORD@" } else { "" };
    Some(format!("{problem}; write {scheme}://{user}{place}"))
}

#[cfg(test)]
mod tests {
    use super::problem;

    fn shown(url: &str) -> Option<String> {
        problem(url, |scheme| {
            ["sqlite", "postgresql", "mysql", "mariadb", "redis"].contains(&scheme)
        })
    }

    #[test]
    fn urls_of_other_libraries_are_corrected_without_their_password() {
        for (url, corrected) in [
            (
                "jdbc:postgresql://db:5432/app?user=u&password=s3cret",
                "postgresql://USER:PASSWORD@db:5432/app",
            ),
            ("jdbc:mariadb://db/app", "mariadb://USER:PASSWORD@db/app"),
            ("r2dbc:mysql://u:s3cret@db/app", "mysql://USER:PASSWORD@db/app"),
            ("jdbc:sqlite:/var/ids.db", "sqlite:///var/ids.db"),
            ("postgresql+asyncpg://u:s3cr@t/s3cret@db/app", "postgresql://USER:PASSWORD@db/app"),
            ("postgresql+psycopg://db/app", "postgresql://db/app"),
            ("mysql+pymysql://u:s3cret@db/app?charset=utf8", "mysql://USER:PASSWORD@db/app"),
            ("sqlite+aiosqlite:///ids.db", "sqlite:///ids.db"),
            ("pgsql://u:s3cret@db/app", "postgresql://USER:PASSWORD@db/app"),
            ("mysql2://u:s3cret@db/app", "mysql://USER:PASSWORD@db/app"),
            ("file:./dev.db", "sqlite://dev.db"),
            ("sqlite:ids.db", "sqlite://ids.db"),
        ] {
            let problem = shown(url).unwrap_or_default();
            assert!(problem.ends_with(&format!("; write {corrected}")), "{url}: {problem}");
            assert!(!problem.contains("s3c"), "{url}: {problem}");
        }
    }

    #[test]
    fn unknown_urls_have_no_correction() {
        for url in [
            "mongodb://db/app",
            "jdbc:oracle:thin:@db:1521",
            "sqlite::memory:",
            "db",
            "s3cret@db:1/x",
        ] {
            assert_eq!(shown(url), None, "{url}");
        }
    }
}
