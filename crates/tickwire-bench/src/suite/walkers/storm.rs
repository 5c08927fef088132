//! Logins without pause: 3,500 in nine seconds, from one machine.
//!
//! In: where the server is. Out: how many were let in. Each opens a connection, says who it is and reads
//! whatever it is told; who is let in stays to the end, so that everybody after it is told of to a crowd.
//! These are plain sockets and no sessions: what they cost shall be the server's.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::Signals;

/// How many come.
pub(super) const LOGINS: u32 = 3_500;

/// Within which time.
pub(super) const SPAN: Duration = Duration::from_secs(9);

/// Comes, and stays until the server has measured enough.
pub(super) fn rage(server: SocketAddr, signals: &Signals) -> anyhow::Result<usize> {
    let began = Instant::now();
    let mut inside: Vec<TcpStream> = Vec::new();
    let mut heard = vec![0; 1 << 16];
    let mut number = 0;
    while !signals.over.load(Ordering::Relaxed) {
        if number < LOGINS && began.elapsed() >= SPAN * number / LOGINS {
            let mut stream = TcpStream::connect(server)?;
            stream.write_all(&login(number))?;
            stream.set_nonblocking(true)?;
            inside.push(stream);
            number += 1;
        } else {
            // What is not read would wait at the server.
            inside.retain_mut(|stream| match stream.read(&mut heard) {
                Ok(length) => length > 0,
                Err(error) => error.kind() == ErrorKind::WouldBlock,
            });
            thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(inside.len())
}

/// Version 1, as the document has it: a character, a colour, a name.
fn login(number: u32) -> Vec<u8> {
    let name = format!("stormer {number}");
    let mut login = vec![0x7b, 1, 0, b'@', 0, 15, 0];
    login.push(u8::try_from(name.len()).unwrap_or_default());
    login.extend(name.as_bytes());
    login
}
