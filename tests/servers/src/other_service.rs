use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A service other than a broker, such as the default backend of a cluster's ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherService {
    /// Returns status 404 and a line of text.
    NotFound,
    /// Returns status 200 and a page.
    Html,
    /// Returns status 302 with the address of a port where nothing listens.
    Redirect,
    /// Returns status 403 and an empty JSON object.
    Forbidden,
    /// Returns status 200 without a body.
    Empty,
    /// Accepts connections and never responds.
    Silent,
}

/// A service that listens until this value is dropped.
#[derive(Debug)]
pub struct ListeningService {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    /// The open connections of [`OtherService::Silent`].
    silent: Arc<Mutex<Vec<TcpStream>>>,
}

impl OtherService {
    /// All kinds of services.
    pub const ALL: [Self; 6] =
        [Self::NotFound, Self::Html, Self::Redirect, Self::Forbidden, Self::Empty, Self::Silent];

    /// Listens on a free port of this host.
    ///
    /// # Panics
    /// If there is no free port.
    #[must_use]
    pub fn listen(self) -> ListeningService {
        self.listen_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
    }

    /// Listens at an address, such as the address of a broker that has ended.
    ///
    /// # Panics
    /// If the address is in use.
    #[must_use]
    pub fn listen_at(self, address: SocketAddr) -> ListeningService {
        let listener = TcpListener::bind(address).expect("a free address");
        let address = listener.local_addr().expect("an address");
        let service = ListeningService {
            address,
            is_over: Arc::new(AtomicBool::new(false)),
            silent: Arc::default(),
        };
        let (is_over, silent) = (Arc::clone(&service.is_over), Arc::clone(&service.silent));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let silent = Arc::clone(&silent);
                thread::spawn(move || self.serve(stream, &silent));
            }
        });
        service
    }

    fn serve(self, mut stream: TcpStream, silent: &Mutex<Vec<TcpStream>>) {
        // If a part of the request stayed unread, the connection would be reset before the response
        // arrives.
        if stream.read(&mut [0; 16_384]).is_err() {
            return;
        }
        let answer = match self {
            Self::NotFound => "404 Not Found\r\nContent-Length: 21\r\n\r\ndefault backend - 404",
            Self::Html => "200 OK\r\nContent-Length: 18\r\n\r\n<h1>It works!</h1>",
            Self::Redirect => {
                "302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
            }
            Self::Forbidden => "403 Forbidden\r\nContent-Length: 2\r\n\r\n{}",
            Self::Empty => "200 OK\r\nContent-Length: 0\r\n\r\n",
            Self::Silent => {
                silent.lock().unwrap().push(stream);
                return;
            }
        };
        // The write fails only if the client has closed the connection.
        let _ = write!(stream, "HTTP/1.1 {answer}");
    }
}

impl ListeningService {
    /// The port on which the service listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for ListeningService {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for stream in self.silent.lock().unwrap().drain(..) {
            // An error means that the connection is closed already.
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Connecting wakes up the listener, so that its thread ends. It fails if the thread has
        // ended already.
        let _ = TcpStream::connect(self.address);
    }
}
