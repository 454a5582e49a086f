use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A service that is not a broker, such as the default one of a cluster's ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherService {
    /// Answers status 404 and a line of text.
    NotFound,
    /// Answers status 200 and a page.
    Html,
    /// Answers status 302 and leads to a port where nothing listens.
    Redirect,
    /// Answers status 403 and an empty JSON object.
    Forbidden,
    /// Answers status 200 and no body.
    Empty,
    /// Accepts connections and never answers.
    Silent,
}

/// Another service that listens until this is dropped.
#[derive(Debug)]
pub struct ListeningService {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    /// The connections that never get an answer.
    silent: Arc<Mutex<Vec<TcpStream>>>,
}

impl OtherService {
    /// Every kind.
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

    /// Listens at an address, such as that of a broker that has ended.
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
        // With a part of the request unread, the connection would be reset before the answer arrives.
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
        // A client that has gone needs no answer.
        let _ = write!(stream, "HTTP/1.1 {answer}");
    }
}

impl ListeningService {
    /// The port on which it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for ListeningService {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for stream in self.silent.lock().unwrap().drain(..) {
            // An error means that it is closed.
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Wakes the listener up, so that its thread ends; if it has ended there is nothing to wake.
        let _ = TcpStream::connect(self.address);
    }
}
