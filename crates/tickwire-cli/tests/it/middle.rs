//! Somebody between a client and its server, who changes what the client is told by datagram.
//!
//! Streams are passed on as they are. It is for one client, and lives as long as the test's process.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;

/// Stands in front of a server; returns where.
pub(crate) fn between(
    server: SocketAddr,
    change: impl Fn(&mut [u8]) + Send + 'static,
) -> SocketAddr {
    let (listener, front) = bind();
    let addr = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(server) else {
                return;
            };
            copy(&client, &server);
            copy(&server, &client);
        }
    });
    thread::spawn(move || relay(&front, server, change));
    addr
}

/// The same port for streams and for datagrams.
fn bind() -> (TcpListener, UdpSocket) {
    let pair = (0..100).find_map(|_| {
        let listener = TcpListener::bind("127.0.0.1:0").ok()?;
        let front = UdpSocket::bind(listener.local_addr().ok()?).ok()?;
        Some((listener, front))
    });
    pair.expect("a port that is free for both")
}

fn copy(from: &TcpStream, to: &TcpStream) {
    let [mut from, mut to] = [from, to].map(|it| it.try_clone().expect("it is open"));
    thread::spawn(move || {
        io::copy(&mut from, &mut to).ok();
        to.shutdown(std::net::Shutdown::Write).ok();
    });
}

fn relay(front: &UdpSocket, server: SocketAddr, change: impl Fn(&mut [u8]) + Send + 'static) {
    let back = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    back.connect(server).expect("an address");
    let mut bytes = [0; 2_048];
    let (mut length, client) = front.recv_from(&mut bytes).expect("the client speaks");
    let [down, reader] = [front, &back].map(|it| it.try_clone().expect("it is open"));
    thread::spawn(move || {
        let mut bytes = [0; 2_048];
        while let Ok(length) = reader.recv(&mut bytes) {
            change(&mut bytes[..length]);
            down.send_to(&bytes[..length], client).ok();
        }
    });
    loop {
        back.send(&bytes[..length]).ok();
        let Ok((next, _)) = front.recv_from(&mut bytes) else {
            return;
        };
        length = next;
    }
}
