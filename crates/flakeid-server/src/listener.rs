//! The addresses on which a server accepts connections.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;

/// An address to listen on.
#[derive(Clone, Debug)]
pub enum Listener {
    /// A TCP address; port 0 selects any free port.
    Tcp(SocketAddr),
    /// A TCP address that is already bound; see [`bound`](Self::bound).
    Bound(Arc<std::net::TcpListener>),
    /// A Unix socket. An existing socket on which no process listens any more is replaced.
    Unix(PathBuf),
}

impl Listener {
    /// Binds an address immediately, so that it is known before the service exists.
    ///
    /// # Errors
    /// The system's error if the address cannot be bound.
    pub fn bound(address: SocketAddr) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self::Bound(Arc::new(listener)))
    }

    /// Returns the TCP address with the actual port, or `None` for a Unix socket.
    ///
    /// # Errors
    /// The system's error if the address cannot be read.
    pub fn tcp_address(&self) -> io::Result<Option<SocketAddr>> {
        match self {
            Self::Tcp(address) => Ok(Some(*address)),
            Self::Bound(listener) => listener.local_addr().map(Some),
            Self::Unix(_) => Ok(None),
        }
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(formatter, "{address}"),
            Self::Bound(listener) => match listener.local_addr() {
                Ok(address) => write!(formatter, "{address}"),
                Err(error) => write!(formatter, "an unknown address ({error})"),
            },
            Self::Unix(path) => write!(formatter, "{}", path.display()),
        }
    }
}

/// A connection of any kind.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// The number of connections that may wait to be accepted; the system may allow fewer (Linux:
/// `net.core.somaxconn`). A fleet reconnects all at once when its broker is available again. A
/// client whose connection does not fit tries again a second later.
#[cfg(unix)]
const BACKLOG: u32 = 4_096;

/// Listens with a larger backlog than the standard library, which uses 128.
#[cfg(unix)]
fn listen(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    use std::os::fd::OwnedFd;
    // Calling listen again on a listening socket changes its backlog.
    let socket = std::net::TcpStream::from(OwnedFd::from(listener));
    tokio::net::TcpSocket::from_std_stream(socket).listen(BACKLOG)
}

#[cfg(not(unix))]
fn listen(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    TcpListener::from_std(listener)
}

/// A listener whose address is bound.
pub(crate) enum BoundListener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix {
        listener: UnixListener,
        path: PathBuf,
    },
}

impl BoundListener {
    /// Binds the address. Must be called in the context of a runtime.
    pub(crate) async fn new(listener: &Listener) -> io::Result<Self> {
        match listener {
            Listener::Tcp(address) => {
                let listener = std::net::TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                Ok(Self::Tcp(listen(listener)?))
            }
            Listener::Bound(listener) => Ok(Self::Tcp(listen(listener.try_clone()?)?)),
            #[cfg(unix)]
            Listener::Unix(path) => {
                let listener = match UnixListener::bind(path) {
                    Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                        use std::os::unix::fs::FileTypeExt;
                        let is_socket = std::fs::symlink_metadata(path)?.file_type().is_socket();
                        if !is_socket || tokio::net::UnixStream::connect(path).await.is_ok() {
                            return Err(error);
                        }
                        std::fs::remove_file(path)?;
                        UnixListener::bind(path)?
                    }
                    listener => listener?,
                };
                Ok(Self::Unix { listener, path: path.clone() })
            }
            #[cfg(not(unix))]
            Listener::Unix(_) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "Unix sockets are available only on Unix; listen on a TCP address",
            )),
        }
    }

    pub(crate) fn address(&self) -> io::Result<Listener> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Listener::Tcp),
            #[cfg(unix)]
            Self::Unix { path, .. } => Ok(Listener::Unix(path.clone())),
        }
    }

    /// Accepts a connection, and returns the client's address if the connection has one.
    pub(crate) async fn accept(&self) -> io::Result<(Box<dyn Stream>, Option<IpAddr>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // A response is one small packet, which must not be delayed.
                stream.set_nodelay(true)?;
                Ok((Box::new(stream), Some(peer.ip())))
            }
            #[cfg(unix)]
            Self::Unix { listener, .. } => Ok((Box::new(listener.accept().await?.0), None)),
        }
    }
}

#[cfg(unix)]
impl Drop for BoundListener {
    fn drop(&mut self) {
        if let Self::Unix { path, .. } = self {
            // If the file has already been removed, there is nothing to do.
            drop(std::fs::remove_file(path));
        }
    }
}
