//! `recvmmsg` and `sendmmsg` with nothing around them: what the system can do.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a batch, and the size of a structure, fit every integer of the system"
)]

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd as _;
use std::{mem, ptr};

use tickwire_net::limits::{DATAGRAM_BATCH, DATAGRAM_LARGEST, DATAGRAM_SOCKET_BUFFER};

/// Datagrams that cross in one system call, with where they came from.
pub(in crate::suite) struct Batch {
    slots: Box<[[u8; DATAGRAM_LARGEST]]>,
    lengths: [usize; DATAGRAM_BATCH],
    names: [libc::sockaddr_in; DATAGRAM_BATCH],
    /// How many datagrams there are.
    count: usize,
}

/// An address, as the system writes it.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub(in crate::suite) struct Name {
    addr: u32,
    port: u16,
}

impl Name {
    const fn of(name: &libc::sockaddr_in) -> Self {
        Self {
            addr: name.sin_addr.s_addr,
            port: name.sin_port,
        }
    }
}

impl From<Name> for libc::sockaddr_in {
    fn from(name: Name) -> Self {
        Self {
            sin_family: libc::AF_INET as _,
            sin_port: name.port,
            sin_addr: libc::in_addr { s_addr: name.addr },
            sin_zero: [0; 8],
        }
    }
}

/// Whether the addresses of a batch matter: not to a socket that is connected.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Names {
    Used,
    Ignored,
}

impl Batch {
    pub(in crate::suite) fn new() -> Self {
        // SAFETY: `sockaddr_in` consists of integers, for which all zeros is a value.
        let name = unsafe { mem::zeroed() };
        Self {
            slots: vec![[0; DATAGRAM_LARGEST]; DATAGRAM_BATCH].into(),
            lengths: [0; DATAGRAM_BATCH],
            names: [name; DATAGRAM_BATCH],
            count: 0,
        }
    }

    /// A batch of the same datagram in every slot.
    pub(super) fn full_of(datagram: &[u8]) -> Self {
        let mut batch = Self::new();
        for slot in &mut batch.slots {
            slot[..datagram.len()].copy_from_slice(datagram);
        }
        batch.lengths = [datagram.len(); DATAGRAM_BATCH];
        batch.count = DATAGRAM_BATCH;
        batch
    }

    /// Writes every datagram that there is anew; `write` says how long it is.
    pub(in crate::suite) fn fill(&mut self, mut write: impl FnMut(&mut [u8]) -> usize) {
        let slots = self.slots.iter_mut().zip(&mut self.lengths);
        for (slot, length) in slots.take(self.count) {
            *length = write(slot);
        }
    }

    /// The datagrams that there are, and where they came from.
    pub(in crate::suite) fn iter(&self) -> impl Iterator<Item = (Name, &[u8])> {
        let slots = self.slots.iter().zip(&self.lengths).zip(&self.names);
        let datagrams = slots.take(self.count);
        datagrams.map(|((slot, &length), name)| (Name::of(name), &slot[..length]))
    }

    pub(in crate::suite) const fn clear(&mut self) {
        self.count = 0;
    }

    /// Where another datagram can be written, if there is a place; it counts once it is pushed.
    pub(in crate::suite) fn slot(&mut self) -> Option<&mut [u8]> {
        self.slots.get_mut(self.count).map(<[u8; _]>::as_mut_slice)
    }

    pub(in crate::suite) fn push(&mut self, to: Name, length: usize) {
        self.lengths[self.count] = length;
        self.names[self.count] = to.into();
        self.count += 1;
    }

    /// Waits for datagrams and takes all that are there; none if the socket's patience ends.
    pub(in crate::suite) fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.lengths = [DATAGRAM_LARGEST; DATAGRAM_BATCH];
        self.count = 0;
        let mut pieces = [NO_PIECE; DATAGRAM_BATCH];
        let mut headers = self.headers(&mut pieces, Names::Used);
        // SAFETY: the headers point to names, pieces and slots that outlive the call and that
        // nothing else touches during it, and each carries its own length.
        let got = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                DATAGRAM_BATCH as _,
                libc::MSG_WAITFORONE as _,
                ptr::null_mut(),
            )
        };
        match usize::try_from(got) {
            Ok(got) => self.count = got,
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::WouldBlock => {}
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
        for (length, header) in self.lengths.iter_mut().zip(&headers).take(self.count) {
            *length = header.msg_len as usize;
        }
        Ok(self.count)
    }

    /// Sends the batch where the socket is connected to; returns how many went.
    pub(super) fn send(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.transmit(socket, Names::Ignored)
    }

    /// Sends each datagram to whom it came from; returns how many went.
    pub(in crate::suite) fn send_back(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.transmit(socket, Names::Used)
    }

    fn transmit(&mut self, socket: &UdpSocket, names: Names) -> io::Result<usize> {
        if self.count == 0 {
            return Ok(0);
        }
        let mut pieces = [NO_PIECE; DATAGRAM_BATCH];
        let mut headers = self.headers(&mut pieces, names);
        // SAFETY: the first `count` headers, of `DATAGRAM_BATCH` at most, point to names, pieces and
        // slots that outlive the call; the kernel reads them and writes nothing but `msg_len`.
        let sent =
            unsafe { libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), self.count as _, 0) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }

    /// A header for every slot.
    fn headers(
        &mut self,
        pieces: &mut [libc::iovec; DATAGRAM_BATCH],
        names: Names,
    ) -> [libc::mmsghdr; DATAGRAM_BATCH] {
        // SAFETY: `mmsghdr` consists of integers and raw pointers, for which all zeros is a value.
        let mut headers: [libc::mmsghdr; DATAGRAM_BATCH] = unsafe { mem::zeroed() };
        for ((((header, piece), slot), length), name) in headers
            .iter_mut()
            .zip(pieces)
            .zip(&mut self.slots)
            .zip(&self.lengths)
            .zip(&mut self.names)
        {
            piece.iov_base = slot.as_mut_ptr().cast();
            piece.iov_len = *length;
            header.msg_hdr.msg_iov = piece;
            header.msg_hdr.msg_iovlen = 1;
            if names == Names::Used {
                header.msg_hdr.msg_name = ptr::from_mut(name).cast();
                header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_in>() as _;
            }
        }
        headers
    }
}

const NO_PIECE: libc::iovec = libc::iovec {
    iov_base: ptr::null_mut(),
    iov_len: 0,
};

/// Asks for buffers of the size that the driver asks for; the kernel may give less.
pub(super) fn ask_for_buffers(socket: &UdpSocket) -> io::Result<()> {
    let size = libc::c_int::try_from(DATAGRAM_SOCKET_BUFFER).unwrap_or(libc::c_int::MAX);
    for option in [libc::SO_RCVBUF, libc::SO_SNDBUF] {
        // SAFETY: the value is a `c_int` that outlives the call, and its size is given.
        let status = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                option,
                (&raw const size).cast(),
                size_of::<libc::c_int>() as _,
            )
        };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
