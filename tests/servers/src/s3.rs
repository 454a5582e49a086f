use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::daemon::Daemon;
use crate::installed::{AWS_KEY, installed, responds};
use crate::{Server, free_port};

/// A private versitygw, which has the interface of S3 and keeps its objects in files.
///
/// The `Date` header of versitygw lags by up to two seconds, more than the default `max_skew`
/// allows. Clients therefore connect to a proxy, which replaces the header by the current time, as
/// S3 itself sends it.
#[derive(Debug)]
pub struct S3Server {
    port: u16,
    proxy_port: u16,
    daemon: Daemon,
}

impl S3Server {
    /// The name of the bucket, which exists from the start.
    pub const BUCKET: &'static str = "flakeid-test";

    /// Starts a server with an empty bucket.
    ///
    /// # Panics
    /// If versitygw is not installed or does not start.
    #[must_use]
    pub fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        let port = free_port();
        let daemon = Daemon::in_home("versitygw", home);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let proxy_port = listener.local_addr().expect("an address").port();
        // The thread ends with the process.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                thread::spawn(move || forward(&client, port));
            }
        });
        let server = Self { port, proxy_port, daemon };
        fs::create_dir_all(server.data().join(Self::BUCKET)).expect("a bucket");
        server.start();
        server
    }

    /// The URL of the server, without a bucket.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.proxy_port)
    }

    /// The URL of the server without the proxy, whose `Date` header lags.
    #[must_use]
    pub fn lagging_url(&self) -> String {
        Self::url_of(&format!("http://127.0.0.1:{}", self.port))
    }

    fn url_of(endpoint: &str) -> String {
        let (key, secret) = AWS_KEY;
        let bucket = Self::BUCKET;
        format!("s3://{key}:{secret}@{bucket}/leases?region=us-east-1&endpoint={endpoint}")
    }

    /// Sends a request as another program would, with `curl`. Returns the body of the response.
    ///
    /// # Panics
    /// If the request fails.
    pub fn request(&self, method: &str, path: &str, body: &str) -> String {
        let (key, secret) = AWS_KEY;
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--fail", "--aws-sigv4", "aws:amz:us-east-1:s3"]);
        command.args(["--user", &format!("{key}:{secret}"), "-X", method]);
        command.args(["--header", "x-amz-content-sha256: UNSIGNED-PAYLOAD"]);
        if method == "PUT" {
            command.args(["--header", "content-type: application/json", "--data-binary", "@-"]);
        }
        command.arg(format!("http://127.0.0.1:{}/{}/{path}", self.port, Self::BUCKET));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut curl = command.spawn().expect("curl (Debian's package curl)");
        let mut input = curl.stdin.take().expect("a pipe");
        if method == "PUT" {
            input.write_all(body.as_bytes()).expect("curl reads the body");
        }
        drop(input);
        let output = curl.wait_with_output().expect("the output of curl");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

impl Default for S3Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Server for S3Server {
    fn daemon(&self) -> &Daemon {
        &self.daemon
    }

    fn url(&self) -> String {
        Self::url_of(&self.endpoint())
    }

    /// The proxies are several hosts of one server.
    fn url_at(&self, port: u16) -> String {
        format!("{}&place=proxied", Self::url_of(&format!("http://127.0.0.1:{port}")))
    }

    fn start(&self) {
        let (key, secret) = AWS_KEY;
        let mut command = Command::new(installed("bin/versitygw"));
        command.env("ROOT_ACCESS_KEY", key).env("ROOT_SECRET_KEY", secret);
        command.args(["--port", &format!("127.0.0.1:{}", self.port), "--quiet", "posix"]);
        command.arg(self.data());
        self.daemon.start(&mut command, || responds(self.port));
    }
}

/// Forwards one connection to the server. The server closes a connection after each response, so
/// everything after the first head is the body.
fn forward(client: &TcpStream, port: u16) {
    let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { return };
    thread::scope(|scope| {
        scope.spawn(|| {
            // The client closes its connection after the response, which ends the copy.
            let _ = io::copy(&mut &*client, &mut &server);
            let _ = server.shutdown(Shutdown::Write);
        });
        // A failure closes the client's connection, as a failure of the server would.
        let _ = forward_response(&server, client);
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
    });
}

fn forward_response(server: &TcpStream, mut client: &TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(server);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line.to_ascii_lowercase().starts_with("date:") {
            line = format!("Date: {}\r\n", http_date());
        }
        head.push_str(&line);
        // A client that expects it gets an interim response first.
        if line == "\r\n" && !head.starts_with("HTTP/1.1 100") {
            break;
        }
        if line == "\r\n" {
            client.write_all(head.as_bytes())?;
            head.clear();
        }
    }
    client.write_all(head.as_bytes())?;
    io::copy(&mut reader, &mut client)?;
    Ok(())
}

/// Returns the current time in the format of the `Date` header. Clients ignore the day of the week.
fn http_date() -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    let mut moment = libc::time_t::try_from(seconds.as_secs()).expect("a time");
    // SAFETY: all bytes of `tm` may be zero, and `gmtime_r` writes only to it.
    #[allow(unsafe_code)]
    let parts = unsafe {
        let mut parts: libc::tm = std::mem::zeroed();
        libc::gmtime_r(&raw mut moment, &raw mut parts);
        parts
    };
    format!(
        "Thu, {:02} {} {} {:02}:{:02}:{:02} GMT",
        parts.tm_mday,
        MONTHS[usize::try_from(parts.tm_mon).expect("a month")],
        parts.tm_year + 1_900,
        parts.tm_hour,
        parts.tm_min,
        parts.tm_sec
    )
}
