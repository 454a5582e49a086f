//! flakeid's server in threads of this process.

use std::error::Error;
use std::net::SocketAddr;
use std::thread::JoinHandle;

use flakeid_server::{Listener, ServeOptions, Server, Service};
use tokio::sync::oneshot;

/// Name of the threads of flakeid's server.
pub(crate) const THREADS: &str = "flakeid-serve";

/// Listens on a free port of the loopback interface.
pub(crate) fn listener() -> std::io::Result<Listener> {
    Listener::bound(SocketAddr::from(([127, 0, 0, 1], 0)))
}

/// Returns the address of the listener.
pub(crate) fn address_of(listener: &Listener) -> Result<SocketAddr, Box<dyn Error>> {
    Ok(listener.tcp_address()?.ok_or("flakeid's server does not listen on TCP")?)
}

/// A running server of flakeid, which ends when dropped.
pub(crate) struct OurServer {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl OurServer {
    pub(crate) fn start(
        service: Service,
        listener: &Listener,
        options: ServeOptions,
    ) -> Result<Self, Box<dyn Error>> {
        let address = address_of(listener)?;
        let server = Server::bind(service, listener, options)?;
        let (stop, stopped) = oneshot::channel::<()>();
        let serve = move || server.run(async { drop(stopped.await) });
        let thread = std::thread::Builder::new().name(THREADS.to_owned()).spawn(serve)?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for OurServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(ended.is_none_or(|ended| ended.is_ok()), "flakeid's server panicked");
    }
}
