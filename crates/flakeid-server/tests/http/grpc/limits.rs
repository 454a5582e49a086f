//! Tests of the limits on calls, wrong tokens and messages that are not taken.

use super::*;

#[test]
fn request_rate_limit_applies_to_grpc() {
    let pair = Pair::new(service().request_rate_limit(3));
    let mut ids = pair.ids();
    let statuses: Vec<_> = (0..50).map(|_| ids.next("default", None)).collect();
    let issued = statuses.iter().filter(|status| status.is_ok()).count();
    assert!((3..=20).contains(&issued), "{issued} calls were answered");
    let refused = statuses.into_iter().find_map(Result::err).unwrap();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(refused.metadata().get("flakeid-code").unwrap(), "HTTP_TOO_MANY_REQUESTS");
}

#[test]
fn wrong_token_ends_a_grpc_connection() {
    let pair = Pair::new(service().tokens(Tokens::parse("0123456789abcdef").unwrap()));
    let mut channel = pair.channel();
    channel.authorization = Some("Bearer 9999999999999999");
    let mut ids = Calls { client: client(channel), runtime: &pair.runtime };
    assert_eq!(ids.next("default", None).unwrap_err().code(), Code::Unauthenticated);
    let ends = Instant::now() + Duration::from_secs(20);
    while ids.next("default", None).unwrap_err().code() == Code::Unauthenticated {
        assert!(Instant::now() < ends, "the client may try many tokens on one connection");
    }
}

/// Opens a connection whose windows have room for no whole message.
async fn narrow(pair: &Pair, authorization: Option<&'static str>) -> Channel {
    let stream = tokio::net::TcpStream::connect(pair.address()).await.unwrap();
    let handshake = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(2_000)
        .handshake(TokioIo::new(stream));
    let (sender, connection) = handshake.await.unwrap();
    tokio::spawn(connection);
    Channel { sender, authorization }
}

#[test]
fn calls_whose_messages_are_not_taken_end() {
    let options =
        ServeOptions { write_timeout: Duration::from_millis(300), ..ServeOptions::default() };
    let pair = Pair::with(service(), options);
    pair.runtime.block_on(async {
        let channel = narrow(&pair, None).await;
        let open = |number: u64| {
            let mut ids = client(channel.clone());
            async move {
                let request = StreamRequest { namespace: "default".to_owned(), count: 50_000 };
                (number, ids.stream(request).await)
            }
        };
        // More calls than may receive IDs at the same time: each of the later ones gets its turn, because the earlier
        // ones end.
        let calls: Vec<_> = (0..20).map(|number| tokio::spawn(open(number))).collect();
        let mut unread = Vec::new();
        for call in calls {
            let (_, opened) = timeout(Duration::from_secs(30), call).await.unwrap().unwrap();
            unread.push(opened.unwrap().into_inner());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        for stream in &mut unread {
            let mut received = 0;
            let ended = loop {
                match stream.message().await {
                    Ok(Some(message)) => received += message.ids.len(),
                    ended => break ended,
                }
            };
            assert!(ended.is_err(), "the call still sent {received} IDs");
        }
        // The connection serves other calls.
        let request = NextRequest { namespace: "default".to_owned(), count: None };
        assert_eq!(client(channel.clone()).next(request).await.unwrap().into_inner().ids.len(), 1);
    });
}

/// Both clients have the same address, as behind a proxy.
#[test]
fn unread_streams_of_one_token_do_not_delay_another_token() {
    let tokens = Tokens::parse("a ids 0123456789abcdef\nb ids 1123456789abcdef\n").unwrap();
    let options =
        ServeOptions { write_timeout: Duration::from_secs(60), ..ServeOptions::default() };
    let pair = Pair::with(service().tokens(tokens), options);
    let open = |channel: Channel| async {
        let request = StreamRequest { namespace: "default".to_owned(), count: 50_000 };
        client(channel).stream(request).await.unwrap().into_inner()
    };
    // The first client has 256 streams, the most that a client may receive. It reads none of them.
    let unread: Vec<_> = pair.runtime.block_on(async {
        let mut unread = Vec::new();
        for _ in 0..32 {
            let channel = narrow(&pair, Some("Bearer 0123456789abcdef")).await;
            let opened: Vec<_> = (0..8).map(|_| tokio::spawn(open(channel.clone()))).collect();
            for stream in opened {
                unread.push(stream.await.unwrap());
            }
        }
        unread
    });
    let channel = Channel { authorization: Some("Bearer 1123456789abcdef"), ..pair.channel() };
    let mut other = Calls { client: client(channel), runtime: &pair.runtime };
    let received = other.stream("default", 1).unwrap();
    assert_eq!(received.concat().len(), 1);
    // Of 300 further calls of the first client, 256 wait. The others fail, because each waiting call takes memory.
    pair.runtime.block_on(async {
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..3 {
            let channel = narrow(&pair, Some("Bearer 0123456789abcdef")).await;
            for _ in 0..100 {
                let mut ids = client(channel.clone());
                let request = StreamRequest { namespace: "default".to_owned(), count: 1 };
                calls.spawn(async move { ids.stream(request).await });
            }
        }
        for _ in 0..300 - 256 {
            let ended = timeout(Duration::from_secs(30), calls.join_next()).await.unwrap();
            let refused = ended.unwrap().unwrap().unwrap_err();
            assert_eq!(refused.code(), Code::ResourceExhausted);
        }
    });
    drop(unread);
}
