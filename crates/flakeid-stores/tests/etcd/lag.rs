//! Tests of etcd status responses whose fields were read at different times.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use flakeid_test_servers::{EtcdServer, Server};

use crate::client::{Client, connect, fresh_namespace, request};
use crate::operations;

/// The response field that contains the applied index. Only status responses have this field.
const APPLIED: &str = "raftAppliedIndex";
/// The response field that contains the revision. An etcd member reads the revision before the applied index.
const REVISION: &str = "revision";

/// A proxy that decreases one field by 1 in each of the next `answers` status responses. The proxy's threads run until
/// the process ends.
struct Lagging {
    url: String,
    answers: Arc<AtomicU32>,
}

impl Lagging {
    fn to(server: &EtcdServer, number: &'static str) -> Self {
        let url = server.url();
        let target = url.trim_start_matches("etcd://").trim_end_matches('/').to_owned();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("etcd://{}/", listener.local_addr().unwrap());
        let answers = Arc::new(AtomicU32::new(0));
        let shared = Arc::clone(&answers);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&target).unwrap());
                let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || {
                    // An error is ignored, because it means that the client or the server has closed the connection.
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Write);
                });
                let answers = Arc::clone(&shared);
                thread::spawn(move || carry(server, client, number, &answers));
            }
        });
        Self { url, answers }
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, number: &str, answers: &AtomicU32) {
    let mut part = [0; 16_384];
    while let Ok(length @ 1..) = from.read(&mut part) {
        let bytes = &mut part[..length];
        let less = |left: u32| left.checked_sub(1);
        if after(bytes, APPLIED).is_some()
            && let Some(at) = after(bytes, number)
            && answers.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
        {
            count_down(&mut bytes[at..]);
        }
        if to.write_all(bytes).is_err() {
            break;
        }
    }
}

/// Returns the position at which the value of a JSON key begins.
fn after(text: &[u8], key: &str) -> Option<usize> {
    let key = format!("\"{key}\":\"");
    let at = text.windows(key.len()).position(|window| window == key.as_bytes())?;
    Some(at + key.len())
}

/// Decreases the number at the start of `text` by one without changing the number's length.
fn count_down(text: &mut [u8]) {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    for digit in text[..digits].iter_mut().rev() {
        if *digit > b'0' {
            *digit -= 1;
            return;
        }
        *digit = b'9';
    }
    panic!("the number is 0");
}

#[test]
fn brief_lag_of_the_applied_index_is_tolerated() {
    let server = EtcdServer::new();
    let member = Lagging::to(&server, APPLIED);
    let mut client = Client::new(&member.url, "late");
    let grant = client.acquire().unwrap();

    member.answers.store(2, Ordering::SeqCst);
    client.renew(&grant).unwrap();
    assert_eq!(member.answers.load(Ordering::SeqCst), 0, "the status was not requested again");

    // An applied index that stays too low means that the member has lost data.
    member.answers.store(u32::MAX, Ordering::SeqCst);
    client.assert_restored();
}

/// Checks that no fault occurs if a member applies a log entry while preparing a status response, after reading the
/// revision and before reading the applied index.
#[test]
fn entry_applied_during_a_status_response_causes_no_fault() {
    let server = EtcdServer::new();
    let member = Lagging::to(&server, REVISION);
    let namespace = fresh_namespace("noted");
    let mut store = connect(&member.url).unwrap();
    member.answers.store(u32::MAX, Ordering::SeqCst);
    operations::init(&mut *store, &namespace).unwrap();
    assert_ne!(
        member.answers.swap(0, Ordering::SeqCst),
        u32::MAX,
        "the client requested no status"
    );
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
}
