//! Where connections come from.

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
    /// TCP; port 0 is any free one.
    Tcp(SocketAddr),
    /// As [`bound`](Self::bound).
    Bound(Arc<std::net::TcpListener>),
    /// A Unix socket. One that nobody listens on any more is replaced.
    Unix(PathBuf),
}

impl Listener {
    /// Listens already, so that the address is known before there is anything to serve.
    ///
    /// # Errors
    /// If the address cannot be had.
    pub fn bound(address: SocketAddr) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self::Bound(Arc::new(listener)))
    }

    /// The address with the port that it was given; `None` for a Unix socket.
    ///
    /// # Errors
    /// If the system does not tell.
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

/// A connection, of whatever kind.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// How many connections may wait to be accepted; the system may allow fewer (Linux:
/// `net.core.somaxconn`). A fleet connects at once when its broker comes back, and whoever finds no place
/// tries again a second later.
#[cfg(unix)]
const BACKLOG: u32 = 4_096;

/// Listens with more room for those who wait than the standard library, which has 128.
#[cfg(unix)]
fn listen(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    use std::os::fd::OwnedFd;
    // A socket that listens already may be told so again, with another number.
    let socket = std::net::TcpStream::from(OwnedFd::from(listener));
    tokio::net::TcpSocket::from_std_stream(socket).listen(BACKLOG)
}

#[cfg(not(unix))]
fn listen(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    TcpListener::from_std(listener)
}

/// A listener that has its address.
pub(crate) enum BoundListener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix {
        listener: UnixListener,
        path: PathBuf,
    },
}

impl BoundListener {
    /// In the context of a runtime.
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
                "Unix sockets are for Unix only; listen on a TCP address",
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

    /// A connection, and from where it comes if that has an address.
    pub(crate) async fn accept(&self) -> io::Result<(Box<dyn Stream>, Option<IpAddr>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // An answer is one small packet, which nothing is to hold back.
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
            // Somebody may have removed it, and then there is nothing to do.
            drop(std::fs::remove_file(path));
        }
    }
}
