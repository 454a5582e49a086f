//! The files in which the tools of Amazon Web Services keep profiles.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::environment::variable;

/// The settings of one profile.
pub(super) struct Profile {
    pub(super) name: String,
    settings: BTreeMap<String, String>,
}

impl Profile {
    /// Reads a profile from the files `credentials` and `config`. Without a name, reads the profile that `AWS_PROFILE`
    /// names, or else the profile `default`. Missing files contain no profile.
    ///
    /// # Errors
    /// A message with the name of the profile if a profile that was named does not exist.
    pub(super) fn read(name: Option<&str>) -> Result<Self, String> {
        let named = name.map(str::to_owned).or_else(|| variable("AWS_PROFILE"));
        let name = named.clone().unwrap_or_else(|| "default".into());
        let mut settings = BTreeMap::new();
        for (variable_name, file) in
            [("AWS_CONFIG_FILE", "config"), ("AWS_SHARED_CREDENTIALS_FILE", "credentials")]
        {
            let path = variable(variable_name)
                .map(PathBuf::from)
                .or_else(|| Some(std::env::home_dir()?.join(".aws").join(file)));
            let text = path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
            settings.extend(section(&text, &name));
        }
        if settings.is_empty() && named.is_some() {
            return Err(format!(
                "the profile {name:?} is neither in ~/.aws/config nor in ~/.aws/credentials"
            ));
        }
        Ok(Self { name, settings })
    }

    pub(super) fn get(&self, setting: &str) -> Option<String> {
        self.settings.get(setting).cloned().filter(|value| !value.is_empty())
    }
}

/// Returns the settings in the section of a profile: `[name]`, or `[profile name]`.
fn section(text: &str, name: &str) -> BTreeMap<String, String> {
    let mut is_wanted = false;
    let mut settings = BTreeMap::new();
    for line in text.lines() {
        if let Some(header) = line.trim().strip_prefix('[').and_then(|line| line.strip_suffix(']'))
        {
            let header = header.trim();
            is_wanted = header.strip_prefix("profile ").map_or(header, str::trim) == name;
        } else if let Some((setting, value)) = line.split_once('=') {
            // Indented lines are nested settings, and lines that begin with # or ; are comments.
            if is_wanted && !line.starts_with([' ', '\t', '#', ';']) {
                settings.insert(setting.trim().to_owned(), value.trim().to_owned());
            }
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn settings_are_read_from_the_section_of_the_profile() {
        let text = "[default]\nregion = eu-west-1\n\n[profile ids]\n# role_arn = no\ns3 =\n  region = no\n\
                    region=us-west-2\naws_secret_access_key = a=b\n[other]\nregion = no\n";
        let settings = section(text, "ids");
        assert_eq!(settings["region"], "us-west-2");
        assert_eq!(settings["aws_secret_access_key"], "a=b");
        assert!(!settings.contains_key("role_arn"));
        assert_eq!(section(text, "default")["region"], "eu-west-1");
        assert!(section(text, "missing").is_empty());
    }
}
