//! The credentials of requests, in the places where programs on Amazon Web Services find them.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::encoding::encode;
use super::endpoints::domain;
use super::environment::variable;
use super::profile::Profile;
use crate::certificates::system_tls;
use crate::document::{Client, Response};
use crate::issued::{Issued, Issuers, printed};
use flakeid_protocol::store::Fault;
use flakeid_protocol::url::ServerUrl;

/// The timeout for the metadata service of an instance, which responds immediately if it exists.
const METADATA_TIMEOUT: Duration = Duration::from_secs(1);

/// The credentials of requests.
#[derive(Clone)]
pub(crate) struct Credentials {
    pub(super) key_id: String,
    pub(super) secret_key: String,
    pub(super) session_token: Option<String>,
}

/// A source of credentials.
#[derive(Clone)]
enum Source {
    /// The URL, an environment variable or a profile contains the credentials.
    Keys(Credentials),
    Issuer(Issuer),
}

/// A program or a service that issues credentials for a limited time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Issuer {
    /// A command that prints the credentials.
    Program(String),
    /// The security token service, for the token in `file`.
    WebIdentity { file: String, role: String },
    /// The service of a container, with its URL.
    Container(String),
    /// The metadata service of an instance.
    Instance,
}

/// The credentials of this process.
static ISSUERS: Issuers<Issuer, Credentials> = Issuers::new();

/// The credentials of a connection.
pub(crate) struct Provider {
    region: String,
    shown: String,
    /// The source; `None` before the first request.
    source: Option<Source>,
}

impl Provider {
    /// Creates a source for the credentials in the URL, `ID:SECRET@`, or else for the credentials of the environment.
    ///
    /// # Errors
    /// [`Fault::Rejected`] if the URL contains only one of the two keys.
    pub(crate) fn new(url: &ServerUrl<'_>, region: &str) -> Result<Self, Fault> {
        let (_, rest) = url.base.split_once("://").unwrap_or_default();
        let source = match rest.rsplit_once('@').map(|(user, _)| user.split_once(':')) {
            None => None,
            Some(Some((key_id, secret_key))) => Some(Source::Keys(Credentials {
                key_id: url.decode("access key", key_id)?,
                secret_key: url.decode("secret key", secret_key)?,
                session_token: None,
            })),
            Some(None) => {
                return Err(url.reject(
                    "the URL contains an access key without its secret key; write ID:SECRET@ before the name, or \
                     omit both to use the credentials of the environment",
                ));
            }
        };
        Ok(Self { region: region.to_owned(), shown: url.shown.clone(), source })
    }

    /// Returns valid credentials. Searches the environment variables, the profile, the web identity, the container's
    /// credentials, and the metadata service of the instance, in this order.
    ///
    /// # Errors
    /// [`Fault::Rejected`] if there are no credentials; [`Fault::Unavailable`] if a service does not respond.
    pub(crate) fn credentials(&mut self) -> Result<Credentials, Fault> {
        let source = match &self.source {
            Some(source) => source.clone(),
            None => self.source.insert(self.search()?).clone(),
        };
        match source {
            Source::Keys(credentials) => Ok(credentials),
            Source::Issuer(issuer) => ISSUERS.get(&issuer, || self.issue(&issuer)),
        }
    }

    /// Records that the service has rejected the current credentials.
    pub(crate) fn discard(&self) {
        if let Some(Source::Issuer(issuer)) = &self.source {
            ISSUERS.reject(issuer);
        }
    }

    fn search(&self) -> Result<Source, Fault> {
        if let (Some(key_id), Some(secret_key)) =
            (variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"))
        {
            let session_token = variable("AWS_SESSION_TOKEN");
            return Ok(Source::Keys(Credentials { key_id, secret_key, session_token }));
        }
        let profile = Profile::read(None).map_err(|text| self.rejected(text))?;
        if let Some(found) = self.search_profile(&profile)? {
            return Ok(found);
        }
        if let (Some(file), Some(role)) =
            (variable("AWS_WEB_IDENTITY_TOKEN_FILE"), variable("AWS_ROLE_ARN"))
        {
            return Ok(Source::Issuer(Issuer::WebIdentity { file, role }));
        }
        let container = match variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            Some(path) => Some(format!("http://169.254.170.2{path}")),
            None => variable("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
        };
        Ok(Source::Issuer(container.map_or(Issuer::Instance, Issuer::Container)))
    }

    fn search_profile(&self, profile: &Profile) -> Result<Option<Source>, Fault> {
        if let (Some(key_id), Some(secret_key)) =
            (profile.get("aws_access_key_id"), profile.get("aws_secret_access_key"))
        {
            let session_token = profile.get("aws_session_token");
            return Ok(Some(Source::Keys(Credentials { key_id, secret_key, session_token })));
        }
        if let (Some(file), Some(role)) =
            (profile.get("web_identity_token_file"), profile.get("role_arn"))
        {
            return Ok(Some(Source::Issuer(Issuer::WebIdentity { file, role })));
        }
        if let Some(command) = profile.get("credential_process") {
            return Ok(Some(Source::Issuer(Issuer::Program(command))));
        }
        if profile.get("role_arn").is_some()
            || profile.get("sso_session").is_some()
            || profile.get("sso_start_url").is_some()
        {
            return Err(self.rejected(format!(
                "the profile {0:?} uses single sign-on or another profile, which flakeid does not support; set \
                 `credential_process = aws configure export-credentials --profile {0}` in another profile, and \
                 AWS_PROFILE to that profile",
                profile.name
            )));
        }
        Ok(None)
    }

    fn issue(&self, issuer: &Issuer) -> Result<Issued<Credentials>, Fault> {
        match issuer {
            Issuer::Program(command) => self.process_credentials(command),
            Issuer::WebIdentity { file, role } => self.web_identity_credentials(file, role),
            Issuer::Container(url) => self.container_credentials(url),
            Issuer::Instance => self.instance_credentials(),
        }
    }

    fn process_credentials(&self, command: &str) -> Result<Issued<Credentials>, Fault> {
        let mut shell = Command::new(if cfg!(windows) { "cmd" } else { "sh" });
        shell.args([if cfg!(windows) { "/C" } else { "-c" }, command]);
        let name = format!("{}: the credential_process of the profile", self.shown);
        let text = printed(&name, &mut shell)?;
        self.parse(&text, ["AccessKeyId", "SecretAccessKey", "SessionToken"])
    }

    fn web_identity_credentials(
        &self,
        file: &str,
        role: &str,
    ) -> Result<Issued<Credentials>, Fault> {
        let token = std::fs::read_to_string(file).map_err(|error| {
            self.rejected(format!("the web identity token {file} cannot be read ({error})"))
        })?;
        let endpoint = variable("AWS_ENDPOINT_URL_STS")
            .unwrap_or_else(|| format!("https://sts.{}.{}", self.region, domain(&self.region)));
        let session = variable("AWS_ROLE_SESSION_NAME").unwrap_or_else(|| "flakeid".into());
        let body = format!(
            "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn={}&RoleSessionName={}&WebIdentityToken={}",
            encode(role, false),
            encode(&session, false),
            encode(token.trim(), false)
        );
        let headers = [("content-type", "application/x-www-form-urlencoded".to_owned())];
        let client = self.client(&endpoint)?;
        let answer = client.send("POST", &format!("{endpoint}/"), &headers, &body)?;
        self.check("the security token service", &answer)?;
        let tag = |name: &str| between(&answer.body, name).map(str::to_owned);
        let invalid = || self.rejected("the security token service sent no credentials");
        let credentials = Credentials {
            key_id: tag("AccessKeyId").ok_or_else(invalid)?,
            secret_key: tag("SecretAccessKey").ok_or_else(invalid)?,
            session_token: tag("SessionToken"),
        };
        Ok(Issued::new(credentials, tag("Expiration").as_deref()))
    }

    fn container_credentials(&self, url: &str) -> Result<Issued<Credentials>, Fault> {
        let token = match variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            Some(file) => Some(std::fs::read_to_string(&file).map_err(|error| {
                self.rejected(format!(
                    "cannot read the container authorization token file {file} ({error})"
                ))
            })?),
            None => variable("AWS_CONTAINER_AUTHORIZATION_TOKEN"),
        };
        let headers: Vec<_> =
            token.iter().map(|token| ("authorization", token.trim().to_owned())).collect();
        let answer = self.client(url)?.send("GET", url, &headers, "")?;
        self.check("the container credentials endpoint", &answer)?;
        self.parse(&answer.body, ["AccessKeyId", "SecretAccessKey", "Token"])
    }

    /// Returns the credentials of the role of an instance, from version 2 of the metadata service.
    fn instance_credentials(&self) -> Result<Issued<Credentials>, Fault> {
        if variable("AWS_EC2_METADATA_DISABLED")
            .is_some_and(|value| value.eq_ignore_ascii_case("true"))
        {
            return Err(self.missing(""));
        }
        let base = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT")
            .unwrap_or_else(|| "http://169.254.169.254".into());
        let base = base.trim_end_matches('/');
        let client = self.client(base)?;
        let lifetime = [("x-aws-ec2-metadata-token-ttl-seconds", "21600".to_owned())];
        let url = format!("{base}/latest/api/token");
        let token = client
            .send_within(METADATA_TIMEOUT, "PUT", &url, &lifetime, "")
            .map_err(|_| self.missing(", and no instance metadata service responds"))?;
        self.check("the instance metadata service", &token)?;
        let token = [("x-aws-ec2-metadata-token", token.body)];
        let list = format!("{base}/latest/meta-data/iam/security-credentials/");
        let roles = client.send("GET", &list, &token, "")?;
        if roles.status == 404 {
            return Err(self.missing(", and the instance has no role"));
        }
        self.check("the instance metadata service", &roles)?;
        let role = roles.body.lines().next().unwrap_or_default();
        let answer = client.send("GET", &format!("{list}{}", encode(role, true)), &token, "")?;
        self.check("the instance metadata service", &answer)?;
        self.parse(&answer.body, ["AccessKeyId", "SecretAccessKey", "Token"])
    }

    /// Parses credentials in JSON. The arguments name the fields with the key, the secret and the session token.
    fn parse(
        &self,
        text: &str,
        [key_id, secret, token]: [&str; 3],
    ) -> Result<Issued<Credentials>, Fault> {
        let json: Value = serde_json::from_str(text).unwrap_or_default();
        let field = |name: &str| json[name].as_str().map(str::to_owned);
        match (field(key_id), field(secret)) {
            (Some(key_id), Some(secret_key)) => {
                let credentials = Credentials { key_id, secret_key, session_token: field(token) };
                Ok(Issued::new(credentials, field("Expiration").as_deref()))
            }
            _ => Err(self.rejected("the source of the credentials sent no access key")),
        }
    }

    fn client(&self, url: &str) -> Result<Client, Fault> {
        let tls = if url.starts_with("https:") {
            Some(system_tls(&ServerUrl {
                shown: self.shown.clone(),
                base: "",
                options: Vec::new(),
            })?)
        } else {
            None
        };
        Ok(Client::new(&self.shown, tls))
    }

    fn check(&self, service: &str, answer: &Response) -> Result<(), Fault> {
        let code = between(&answer.body, "Code").unwrap_or_default();
        let text =
            || format!("{}: {service} responded with status {} {code}", self.shown, answer.status);
        match answer.status {
            200 => Ok(()),
            429 | 500.. => Err(Fault::Unavailable(text())),
            _ => Err(Fault::Rejected(text())),
        }
    }

    fn missing(&self, detail: &str) -> Fault {
        self.rejected(format!(
            "no credentials were found{detail}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or \
             run the program with a role"
        ))
    }

    fn rejected(&self, text: impl std::fmt::Display) -> Fault {
        Fault::Rejected(format!("{}: {text}", self.shown))
    }
}

/// Returns the contents of the first XML element with a name.
pub(crate) fn between<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_parsed_without_showing_them_in_faults() -> Result<(), Fault> {
        let provider = Provider::new(&ServerUrl::parse("s3://b", &[])?, "us-east-1")?;
        let names = ["AccessKeyId", "SecretAccessKey", "Token"];
        let text = r#"{"AccessKeyId":"a","SecretAccessKey":"s3cret","Token":"t","Expiration":"2015-08-30T12:36:00Z"}"#;
        let parsed = provider.parse(text, names)?;
        assert_eq!(parsed.credentials.key_id, "a");
        assert_eq!(parsed.expires, Some(1_440_938_160_000));
        let fault = provider.parse(r#"{"SecretAccessKey":"s3cret"}"#, names).map(drop);
        assert!(matches!(fault, Err(Fault::Rejected(text)) if !text.contains("s3cret")));
        Ok(())
    }

    #[test]
    fn keys_of_the_url_are_decoded_and_never_replaced() -> Result<(), Fault> {
        let url = ServerUrl::parse("s3://id:a%2Fb@bucket/prefix", &[])?;
        let mut provider = Provider::new(&url, "us-east-1")?;
        provider.discard();
        let found = provider.credentials()?;
        assert_eq!((found.key_id.as_str(), found.secret_key.as_str()), ("id", "a/b"));
        let fault =
            Provider::new(&ServerUrl::parse("s3://s3cret@bucket", &[])?, "us-east-1").map(drop);
        assert!(matches!(fault, Err(Fault::Rejected(text)) if !text.contains("s3cret")));
        Ok(())
    }
}
