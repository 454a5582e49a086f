//! Connections that send HTTP/1.1 requests and commands of the Redis protocol as bytes.

use std::io::{Error, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpSocket, TcpStream};

/// A connection, with a buffer for replies.
pub(crate) struct Wire(BufReader<TcpStream>);

/// Connects to a port of the server from the given address.
pub(crate) async fn connect(from: IpAddr, port: u16) -> Result<TcpStream, Error> {
    let socket = TcpSocket::new_v4()?;
    socket.set_nodelay(true)?;
    socket.bind(SocketAddr::new(from, 0))?;
    socket.connect(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port)).await
}

impl Wire {
    pub(crate) async fn open(from: IpAddr, port: u16) -> Result<Self, Error> {
        Ok(Self(BufReader::with_capacity(1_024, connect(from, port).await?)))
    }

    /// Sends a request, and returns the status and the body of the response.
    pub(crate) async fn http(
        &mut self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: &str,
    ) -> Result<(u16, Vec<u8>), Error> {
        let token = token.map_or_else(String::new, |of| format!("Authorization: Bearer {of}\r\n"));
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n{token}\r\n{body}"
        );
        self.0.write_all(request.as_bytes()).await?;
        let (mut status, mut length) = (None, 0);
        loop {
            let line = self.line().await?;
            if line.is_empty() {
                break;
            }
            if status.is_none() {
                status = line.split(' ').nth(1).and_then(|text| text.parse().ok());
            } else if let Some(text) = line.strip_prefix("content-length: ") {
                length = text.parse().map_err(|_| ErrorKind::InvalidData)?;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await?;
        Ok((status.ok_or(ErrorKind::InvalidData)?, body))
    }

    /// Sends a command of the Redis protocol, and returns the first line of the reply.
    pub(crate) async fn redis(&mut self, command: &str) -> Result<String, Error> {
        self.0.write_all(format!("{command}\r\n").as_bytes()).await?;
        self.line().await
    }

    async fn line(&mut self) -> Result<String, Error> {
        let mut line = String::new();
        if self.0.read_line(&mut line).await? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}
