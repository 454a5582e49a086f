//! The addresses on which a server accepts connections.

use std::fmt;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{Sleep, sleep};
use tokio_rustls::server::TlsStream;

use crate::connections::State;
use crate::proxies::read_header;
use crate::rate::Peer;

/// An address to listen on.
///
/// ```
/// use flakeid_server::Listener;
///
/// let listener = Listener::bound("127.0.0.1:0".parse()?)?;
/// let address = listener.tcp_address()?;
/// assert!(address.is_some_and(|address| address.port() > 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Listener {
    /// A TCP address; port 0 selects any free port.
    Tcp(SocketAddr),
    /// A TCP socket that is already bound to an address. [`bound`](Self::bound) creates this variant. Drop all clones
    /// before the server runs: clients can connect to the address until the last clone has been dropped, even if the
    /// server has stopped.
    Bound(Arc<std::net::TcpListener>),
    /// The path of a Unix socket. If no process listens on an existing socket at this path, the server replaces the
    /// socket.
    Unix(PathBuf),
}

impl Listener {
    /// Binds a TCP address immediately, so that the caller can read the port before the server starts.
    ///
    /// # Errors
    /// An I/O error if the address cannot be bound.
    pub fn bound(address: SocketAddr) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self::Bound(Arc::new(listener)))
    }

    /// Returns the TCP address, or `None` for a Unix socket. If the listener is already bound, the address contains the
    /// actual port.
    ///
    /// # Errors
    /// An I/O error if the address cannot be read.
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

/// A connection over TCP or a Unix socket, with or without TLS.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {
    /// Holds back written bytes until the stream is shut down. A client then receives the last bytes and the end of the
    /// stream at the same time. Does nothing if the operating system or the kind of stream does not support holding
    /// back bytes.
    fn hold_until_shutdown(&self) {}
}

impl Stream for Watched<TcpStream> {
    fn hold_until_shutdown(&self) {
        // An error is harmless: the end of the stream merely arrives a few microseconds after the last bytes.
        #[cfg(target_os = "linux")]
        rustix::net::sockopt::set_tcp_cork(&self.stream, true).unwrap_or_default();
    }
}

#[cfg(unix)]
impl Stream for Watched<UnixStream> {}

impl Stream for TlsStream<Box<dyn Stream>> {
    fn hold_until_shutdown(&self) {
        self.get_ref().0.hold_until_shutdown();
    }
}

/// The socket of an accepted connection, before the server has registered the connection.
pub(crate) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Socket {
    /// Reads the header of the PROXY protocol, and returns the socket and the client that the header names.
    pub(crate) async fn named(mut self, peer: Option<Peer>) -> io::Result<(Self, Option<Peer>)> {
        let peer = match &mut self {
            Self::Tcp(stream) => read_header(stream, peer).await?,
            #[cfg(unix)]
            Self::Unix(stream) => read_header(stream, peer).await?,
        };
        Ok((self, peer))
    }

    /// Returns the stream of a registered connection. Writing to the stream fails if the client reads nothing for
    /// `write_timeout`.
    pub(crate) fn watched(self, state: &Arc<State>, write_timeout: Duration) -> Box<dyn Stream> {
        match self {
            Self::Tcp(stream) => Box::new(Watched::new(stream, state, write_timeout)),
            #[cfg(unix)]
            Self::Unix(stream) => Box::new(Watched::new(stream, state, write_timeout)),
        }
    }
}

/// A stream whose writes fail if the client reads nothing for too long. Without this limit, a client that sends
/// requests but never reads the responses could keep its connection open forever.
struct Watched<S> {
    stream: S,
    state: Arc<State>,
    write_timeout: Duration,
    /// The timer of the write timeout, which runs while the client does not read.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Watched<S> {
    fn new(stream: S, state: &Arc<State>, write_timeout: Duration) -> Self {
        Self { stream, state: Arc::clone(state), write_timeout, stalled: None }
    }

    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            if self.stalled.take().is_some() {
                self.state.set_stalled(false);
            }
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| {
            self.state.set_stalled(true);
            Box::pin(sleep(self.write_timeout))
        });
        ready!(stalled.as_mut().poll(context));
        self.state.set_stalled(false);
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut_down = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(context, shut_down)
    }
}

/// The maximum number of connections that can wait to be accepted. The operating system may impose a lower limit, such
/// as `net.core.somaxconn` on Linux. The backlog is large, because all clients of a broker reconnect at the same time
/// after an outage. If the backlog is full, a client waits for one second before it retries.
#[cfg(unix)]
const BACKLOG: u32 = 4_096;

/// Starts listening with a larger backlog than the standard library's default of 128.
#[cfg(unix)]
fn listen(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    use std::os::fd::OwnedFd;
    // Calling `listen` again on a listening socket changes the socket's backlog.
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
    /// Binds the listener's address. This function must be called in the context of a tokio runtime.
    pub(crate) async fn new(listener: &Listener, unix_mode: Option<u32>) -> io::Result<Self> {
        match listener {
            Listener::Tcp(address) => {
                let listener = std::net::TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                Ok(Self::Tcp(listen(listener)?))
            }
            Listener::Bound(listener) => Ok(Self::Tcp(listen(listener.try_clone()?)?)),
            #[cfg(unix)]
            Listener::Unix(path) => {
                use std::fs::Permissions;
                use std::os::unix::fs::PermissionsExt;
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
                // The socket gives access to the server, so only the file's owner and group may connect, regardless of
                // the process's umask, unless the options say otherwise.
                let mode = std::fs::symlink_metadata(path)?.permissions().mode();
                let permissions = Permissions::from_mode(unix_mode.unwrap_or(mode & 0o770));
                std::fs::set_permissions(path, permissions)?;
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

    /// Accepts a connection. Returns the socket, and the client's IP address or user.
    pub(crate) async fn accept(&self) -> io::Result<(Socket, Option<Peer>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Nagle's algorithm is disabled, because it can delay small responses.
                stream.set_nodelay(true)?;
                Ok((Socket::Tcp(stream), Some(Peer::Address(peer.ip()))))
            }
            #[cfg(unix)]
            Self::Unix { listener, .. } => {
                let stream = listener.accept().await?.0;
                let peer = stream.peer_cred().ok().map(|credentials| Peer::User(credentials.uid()));
                Ok((Socket::Unix(stream), peer))
            }
        }
    }
}

#[cfg(unix)]
impl Drop for BoundListener {
    fn drop(&mut self) {
        if let Self::Unix { path, .. } = self {
            // Errors are ignored, because the socket file may already have been removed.
            drop(std::fs::remove_file(path));
        }
    }
}
