use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::daemon::Daemon;
use crate::installed::responds;
use crate::{Server, free_port};

/// A private Kubernetes API server, and the etcd that keeps its data. No package contains the API server, so the variable
/// `FLAKEID_TEST_KUBE_APISERVER` names the program, which `cargo xtask kubernetes` builds.
#[derive(Debug)]
pub struct KubernetesServer {
    home: TempDir,
    port: u16,
    etcd_port: u16,
    server: Daemon,
    etcd: Daemon,
}

/// The bearer token of the administrator. The server listens only on this host.
const TOKEN: &str = "administrator";

impl KubernetesServer {
    /// Starts a server without objects.
    ///
    /// # Panics
    /// If the variable is not set, or if a server does not start.
    #[must_use]
    pub fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        let folder = home.path();
        let key = ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "accounts.key"];
        let made = Command::new("openssl").args(key).current_dir(folder).status();
        assert!(made.expect("openssl is installed").success(), "openssl failed");
        fs::write(folder.join("tokens.csv"), format!("{TOKEN},admin,admin,\"system:masters\"\n"))
            .expect("the file of tokens");
        let server = Daemon::new("kube-apiserver", folder.join("kube-apiserver.log"));
        let etcd = Daemon::new("etcd", folder.join("etcd.log"));
        let server = Self { port: free_port(), etcd_port: free_port(), server, etcd, home };
        server.start();
        server.add_port(server.port);
        server
    }

    fn url_of(&self, port: u16) -> String {
        format!("kubernetes://default/flakeid?kubeconfig={}", self.kubeconfig(port).display())
    }

    fn kubeconfig(&self, port: u16) -> PathBuf {
        self.home.path().join(format!("kubeconfig-{port}.json"))
    }

    fn add_port(&self, port: u16) {
        // The server has issued the certificate itself.
        let authority = self.home.path().join("apiserver.crt");
        let text = format!(
            r#"{{"apiVersion": "v1", "kind": "Config", "current-context": "test",
            "contexts": [{{"name": "test", "context": {{"cluster": "test", "user": "test"}}}}],
            "clusters": [{{"name": "test", "cluster": {{
                "server": "https://127.0.0.1:{port}", "certificate-authority": "{}"}}}}],
            "users": [{{"name": "test", "user": {{"token": "{TOKEN}"}}}}]}}"#,
            authority.display()
        );
        fs::write(self.kubeconfig(port), text).expect("a kubeconfig");
    }

    /// Whether the API server can read and write its data.
    fn is_ready(&self) -> bool {
        let url = format!("https://127.0.0.1:{}/readyz", self.port);
        let mut curl = Command::new("curl");
        curl.args([
            "-skf",
            "--max-time",
            "5",
            "-H",
            &format!("Authorization: Bearer {TOKEN}"),
            &url,
        ]);
        curl.stdout(Stdio::null()).status().expect("curl is installed").success()
    }
}

impl Default for KubernetesServer {
    fn default() -> Self {
        Self::new()
    }
}

impl Server for KubernetesServer {
    fn daemon(&self) -> &Daemon {
        &self.server
    }

    fn url(&self) -> String {
        self.url_of(self.port)
    }

    fn port(&self) -> u16 {
        self.port
    }

    /// Writes a kubeconfig for the port.
    fn url_at(&self, port: u16) -> String {
        self.add_port(port);
        self.url_of(port)
    }

    fn start(&self) {
        let program = std::env::var_os("FLAKEID_TEST_KUBE_APISERVER")
            .expect("FLAKEID_TEST_KUBE_APISERVER, the program that cargo xtask kubernetes builds");
        let folder = self.home.path();
        let etcd = format!("http://127.0.0.1:{}", self.etcd_port);
        let peer = format!("http://127.0.0.1:{}", free_port());
        let mut command = Command::new("etcd");
        command.arg("--data-dir").arg(self.data());
        command.args(["--listen-client-urls", &etcd, "--advertise-client-urls", &etcd]);
        command.args(["--listen-peer-urls", &peer]);
        self.etcd.start(&mut command, || responds(self.etcd_port));
        let mut command = Command::new(program);
        command.current_dir(folder).args([
            &format!("--etcd-servers={etcd}"),
            &format!("--secure-port={}", self.port),
            "--bind-address=127.0.0.1",
            "--cert-dir=.",
            "--token-auth-file=tokens.csv",
            "--authorization-mode=RBAC",
            "--anonymous-auth=false",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=accounts.key",
            "--service-account-signing-key-file=accounts.key",
            "--service-cluster-ip-range=10.96.0.0/16",
        ]);
        self.server.start(&mut command, || self.is_ready());
    }

    fn stop(&self) {
        self.server.stop(libc::SIGTERM);
        self.etcd.stop(libc::SIGTERM);
    }

    fn kill(&self) {
        self.server.kill();
        self.etcd.kill();
    }

    fn ended(&self) -> Option<String> {
        self.server.ended().or_else(|| self.etcd.ended())
    }

    fn data(&self) -> PathBuf {
        self.home.path().join("etcd")
    }
}
