//! An HTTP client that connects over TCP or a Unix socket.

use std::time::Duration;

use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::tls::TlsConfig;
use ureq::typestate::AgentScope;

use flakeid_protocol::store::Fault;

/// The time limit for connecting to a broker.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Creates an HTTP client that ignores the proxy settings in environment variables, because such proxies are meant
/// for Internet access.
pub(super) fn agent(tls: Option<TlsConfig>) -> Agent {
    let config = match tls {
        Some(tls) => config().tls_config(tls),
        None => config(),
    };
    config.build().new_agent()
}

fn config() -> ConfigBuilder<AgentScope> {
    Agent::config_builder()
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
}

/// Creates an HTTP client for the server that listens on a Unix socket. The client sends all requests to this server,
/// regardless of the host in the URL.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "systems without Unix sockets return an error")]
pub(super) fn unix_agent(path: &std::path::Path) -> Result<Agent, Fault> {
    use ureq::unversioned::resolver::DefaultResolver;
    let connector = unix::UnixConnector(path.to_owned());
    Ok(Agent::with_parts(config().build(), connector, DefaultResolver::default()))
}

#[cfg(not(unix))]
pub(super) fn unix_agent(path: &std::path::Path) -> Result<Agent, Fault> {
    let text = format!("http+unix://{}: this system does not support Unix sockets", path.display());
    Err(Fault::Rejected(text))
}

#[cfg(unix)]
mod unix {
    //! HTTP connections over a Unix socket.

    use std::io::{ErrorKind, Read, Write};
    use std::os::unix::net::UnixStream;
    use std::path::PathBuf;

    use ureq::Error;
    use ureq::unversioned::transport::{
        Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
    };

    #[derive(Debug)]
    pub(super) struct UnixConnector(pub(super) PathBuf);

    impl Connector for UnixConnector {
        type Out = UnixTransport;

        fn connect(
            &self,
            details: &ConnectionDetails<'_>,
            _: Option<()>,
        ) -> Result<Option<UnixTransport>, Error> {
            let stream = UnixStream::connect(&self.0)?;
            let (input, output) =
                (details.config.input_buffer_size(), details.config.output_buffer_size());
            Ok(Some(UnixTransport { stream, buffers: LazyBuffers::new(input, output) }))
        }
    }

    #[derive(Debug)]
    pub(super) struct UnixTransport {
        stream: UnixStream,
        buffers: LazyBuffers,
    }

    impl Transport for UnixTransport {
        fn buffers(&mut self) -> &mut dyn Buffers {
            &mut self.buffers
        }

        fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
            let limit = timeout.not_zero().map(|limit| *limit);
            self.stream.set_write_timeout(limit)?;
            let written = self.stream.write_all(&self.buffers.output()[..amount]);
            written.map_err(|error| in_time(error, timeout))
        }

        fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
            let limit = timeout.not_zero().map(|limit| *limit);
            self.stream.set_read_timeout(limit)?;
            let input = self.buffers.input_append_buf();
            let read = self.stream.read(input).map_err(|error| in_time(error, timeout))?;
            self.buffers.input_appended(read);
            Ok(read > 0)
        }

        fn is_open(&mut self) -> bool {
            // Unsolicited data makes the connection unusable, because the client would read that data as the next
            // response.
            let probed = self.stream.set_nonblocking(true).and_then(|()| {
                let read = self.stream.read(&mut [0]);
                self.stream.set_nonblocking(false)?;
                read
            });
            matches!(probed, Err(error) if error.kind() == ErrorKind::WouldBlock)
        }
    }

    fn in_time(error: std::io::Error, timeout: NextTimeout) -> Error {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Error::Timeout(timeout.reason),
            _ => error.into(),
        }
    }
}
