//! The access to an API server: its address, its certificate, and the token of a service account or of a kubeconfig.

use std::fs;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use ureq::tls::{ClientCert, PrivateKey, TlsConfig};

use crate::certificates::{config_of, convert, parse_certificates, system_certificates};
use crate::issued::{Issued, Issuers, printed};
use flakeid_protocol::store::Fault;
use flakeid_protocol::url::ServerUrl;

/// The folder in which Kubernetes mounts the service account of a pod.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The access to an API server.
pub(super) struct Access {
    /// The base URL of the API server.
    pub(super) server: String,
    /// The certificates, in PEM format, that the server's certificate must be signed with; `None` for the certificates
    /// that the system trusts.
    authority: Option<Vec<u8>>,
    /// The client certificate and its key, in PEM format.
    certificate: Option<(Vec<u8>, Vec<u8>)>,
    namespace: Option<String>,
    user: User,
}

/// The source of the token.
enum User {
    /// The server requires no token, for example because of a client certificate.
    Anonymous,
    Token(String),
    /// A file with a token that is replaced before it expires.
    File(String),
    /// A program that prints a token: the field `exec` of the kubeconfig, in JSON.
    Program(String),
}

/// The tokens that programs have printed.
static TOKENS: Issuers<String, String> = Issuers::new();

impl Access {
    /// Returns the access that the option `kubeconfig` describes, or else the access of the pod, or else the access that
    /// the environment variable `KUBECONFIG` describes.
    pub(super) fn new(url: &ServerUrl<'_>) -> Result<Self, Fault> {
        if let Some(file) = url.option("kubeconfig")? {
            return Self::from_file(url, &file);
        }
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        if let Some(host) = variable("KUBERNETES_SERVICE_HOST") {
            let port = variable("KUBERNETES_SERVICE_PORT").unwrap_or_else(|| "443".into());
            let host = if host.contains(':') { format!("[{host}]") } else { host };
            let namespace = fs::read_to_string(format!("{SERVICE_ACCOUNT}/namespace")).ok();
            return Ok(Self {
                server: format!("https://{host}:{port}"),
                authority: Some(read(url, &format!("{SERVICE_ACCOUNT}/ca.crt"))?),
                certificate: None,
                namespace: namespace.map(|namespace| namespace.trim().to_owned()),
                user: User::File(format!("{SERVICE_ACCOUNT}/token")),
            });
        }
        match variable("KUBECONFIG") {
            Some(file) => Self::from_file(url, &file),
            None => Err(url.reject(
                "this program does not run in a pod, and no kubeconfig is given; add ?kubeconfig=FILE to the URL, with \
                 a file that `kubectl config view --raw --flatten --minify -o json` prints",
            )),
        }
    }

    /// Reads the current context of a kubeconfig in JSON.
    fn from_file(url: &ServerUrl<'_>, file: &str) -> Result<Self, Fault> {
        let text = read(url, file)?;
        let config: Value = serde_json::from_slice(&text).map_err(|_| {
            url.reject(format_args!(
                "the kubeconfig {file} is not JSON; write it with `kubectl config view --raw --flatten --minify -o json`"
            ))
        })?;
        let named = |list: &str, kind: &str, name: &Value| {
            let entries = config[list].as_array().into_iter().flatten();
            let found = entries.into_iter().find(|entry| entry["name"] == *name);
            found.map(|entry| entry[kind].clone()).ok_or_else(|| {
                url.reject(format_args!("the kubeconfig {file} has no {kind} named {name}"))
            })
        };
        let context = named("contexts", "context", &config["current-context"])?;
        let cluster = named("clusters", "cluster", &context["cluster"])?;
        let user = named("users", "user", &context["user"])?;
        let string = |value: &Value| value.as_str().map(str::to_owned);
        let server = string(&cluster["server"]).ok_or_else(|| {
            url.reject(format_args!(
                "the kubeconfig {file} has no server address (clusters[].cluster.server)"
            ))
        })?;
        let pem = |object: &Value, field: &str| -> Result<Option<Vec<u8>>, Fault> {
            if let Some(data) = object[format!("{field}-data")].as_str() {
                let decoded = STANDARD.decode(data).map_err(|_| {
                    url.reject(format_args!(
                        "the kubeconfig {file} has an invalid field {field}-data"
                    ))
                })?;
                return Ok(Some(decoded));
            }
            string(&object[field]).map(|path| read(url, &path)).transpose()
        };
        let certificate = pem(&user, "client-certificate")?.zip(pem(&user, "client-key")?);
        let user = if user["exec"].is_object() {
            User::Program(user["exec"].to_string())
        } else if let Some(path) = string(&user["tokenFile"]) {
            User::File(path)
        } else {
            string(&user["token"]).map_or(User::Anonymous, User::Token)
        };
        Ok(Self {
            server: server.trim_end_matches('/').to_owned(),
            authority: pem(&cluster, "certificate-authority")?,
            certificate,
            namespace: string(&context["namespace"]),
            user,
        })
    }

    /// Returns the Kubernetes namespace of the pod or of the kubeconfig.
    pub(super) fn namespace(&self, url: &ServerUrl<'_>) -> Result<String, Fault> {
        self.namespace.clone().ok_or_else(|| {
            url.reject("the URL and the kubeconfig contain no namespace; write kubernetes://NAMESPACE/NAME")
        })
    }

    pub(super) fn tls(&self, url: &ServerUrl<'_>) -> Result<Option<TlsConfig>, Fault> {
        if self.server.starts_with("http:") {
            return Ok(None);
        }
        let roots = match &self.authority {
            Some(pem) => parse_certificates(url, "certificate-authority", pem)?,
            None => system_certificates(url, "certificate-authority")?,
        };
        let client = match &self.certificate {
            None => None,
            Some((chain, key)) => {
                let chain = convert(&parse_certificates(url, "client-certificate", chain)?);
                let key = PrivateKey::from_pem(key)
                    .map_err(|error| url.reject(format_args!("client-key: {error}")))?;
                Some(ClientCert::new_with_certs(&chain, key))
            }
        };
        Ok(Some(config_of(&convert(&roots), client)))
    }

    /// Returns the token; `None` if requests need none. A file is read for each request, because Kubernetes replaces it.
    pub(super) fn token(&self, shown: &str) -> Result<Option<String>, Fault> {
        match &self.user {
            User::Anonymous => Ok(None),
            User::Token(token) => Ok(Some(token.clone())),
            User::File(file) => match fs::read_to_string(file) {
                Ok(token) => Ok(Some(token.trim().to_owned())),
                Err(error) => Err(Fault::Unavailable(format!(
                    "{shown}: cannot read the token file {file} ({error})"
                ))),
            },
            User::Program(command) => TOKENS.get(command, || print_token(shown, command)).map(Some),
        }
    }

    /// Records that the server has rejected the token. Returns whether a program can print another one.
    pub(super) fn discard(&self) -> bool {
        let User::Program(command) = &self.user else { return false };
        TOKENS.reject(command);
        true
    }
}

/// Runs the program of a kubeconfig, and returns the token that it prints.
fn print_token(shown: &str, command: &str) -> Result<Issued<String>, Fault> {
    let command: Value = serde_json::from_str(command).unwrap_or_default();
    let name = command["command"].as_str().unwrap_or_default();
    let list = |field: &str| command[field].as_array().into_iter().flatten();
    let mut program = Command::new(name);
    program.args(list("args").filter_map(Value::as_str));
    program.envs(list("env").filter_map(|e| Some((e["name"].as_str()?, e["value"].as_str()?))));
    let info = serde_json::json!({
        "apiVersion": command["apiVersion"], "kind": "ExecCredential", "spec": { "interactive": false },
    });
    program.env("KUBERNETES_EXEC_INFO", info.to_string());
    let name = format!("{shown}: the program {name:?} of the kubeconfig");
    let printed: Value = serde_json::from_str(&printed(&name, &mut program)?).unwrap_or_default();
    let status = &printed["status"];
    let token = status["token"].as_str().map(str::to_owned);
    let token = token.ok_or_else(|| Fault::Rejected(format!("{name} printed no token")))?;
    Ok(Issued::new(token, status["expirationTimestamp"].as_str()))
}

fn read(url: &ServerUrl<'_>, file: &str) -> Result<Vec<u8>, Fault> {
    fs::read(file)
        .map_err(|error| url.reject(format_args!("the file {file} cannot be read ({error})")))
}
