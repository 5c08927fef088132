//! Batches by `recvmmsg` and `sendmmsg`; several datagrams in one message by `UDP_SEGMENT` (GSO); the
//! address that was asked by `IP_PKTINFO`; failures by the error queue; waiting by `ppoll`.

mod control;

use std::io;
use std::mem;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::ptr;
use std::time::Duration;

use mio::net::UdpSocket;
use mio::{Events, Poll};
use socket2::{SockAddr, SockAddrStorage};

use super::{Arrival, Departure, Failure, Slot};
use crate::limits::DATAGRAM_BATCH;
use control::{Control, asked_address, extended_error};

pub(super) fn receive(
    socket: &UdpSocket,
    slots: &mut [Slot],
    found: &mut Vec<Arrival>,
) -> io::Result<()> {
    let mut names: [_; DATAGRAM_BATCH] = std::array::from_fn(|_| SockAddrStorage::zeroed());
    let mut pieces = [NO_PIECE; DATAGRAM_BATCH];
    let mut controls = [Control::EMPTY; DATAGRAM_BATCH];
    let mut headers = empty_headers();
    let mut count = 0;
    for ((((header, piece), name), control), slot) in headers
        .iter_mut()
        .zip(&mut pieces)
        .zip(&mut names)
        .zip(&mut controls)
        .zip(slots)
    {
        piece.iov_base = slot.as_mut_ptr().cast();
        piece.iov_len = slot.len();
        header.msg_hdr.msg_namelen = name.size_of();
        header.msg_hdr.msg_name = ptr::from_mut(name).cast();
        header.msg_hdr.msg_iov = piece;
        header.msg_hdr.msg_iovlen = 1;
        header.msg_hdr.msg_control = control.as_mut_ptr().cast();
        header.msg_hdr.msg_controllen = Control::CAPACITY as _;
        count += 1;
    }
    // SAFETY: the first `count` headers point to names, pieces, controls and slots that live until the
    // end of this function, nothing else touches them during the call, and each carries its own
    // length.
    let got = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr(),
            count,
            libc::MSG_DONTWAIT as _,
            ptr::null_mut(),
        )
    };
    let got = usize::try_from(got).map_err(|_| io::Error::last_os_error())?;
    for (header, name) in headers.iter().zip(names).take(got) {
        // SAFETY: the kernel wrote an address of this length into storage that was zero before.
        let name = unsafe { SockAddr::new(name, header.msg_hdr.msg_namelen) };
        let from = name
            .as_socket()
            .expect("a socket made in `bind` is of an IP family, and so are its peers");
        // A slot is longer than the longest datagram that is handed in, so that one that was cut
        // fills it and needs no flag.
        let length = header.msg_len as usize;
        let asked = asked_address(&header.msg_hdr);
        found.push(Arrival {
            from,
            asked,
            length,
        });
    }
    Ok(())
}

pub(super) fn send(
    socket: &UdpSocket,
    departures: &[Departure],
    bytes: &[u8],
) -> io::Result<usize> {
    let mut pieces = [NO_PIECE; DATAGRAM_BATCH];
    let mut controls = [Control::EMPTY; DATAGRAM_BATCH];
    let mut headers = empty_headers();
    let mut count = 0;
    for (((header, piece), control), departure) in headers
        .iter_mut()
        .zip(&mut pieces)
        .zip(&mut controls)
        .zip(departures)
    {
        let datagram = &bytes[departure.bytes.clone()];
        piece.iov_base = datagram.as_ptr().cast_mut().cast();
        piece.iov_len = datagram.len();
        header.msg_hdr.msg_name = departure.to.as_ptr().cast_mut().cast();
        header.msg_hdr.msg_namelen = departure.to.len();
        header.msg_hdr.msg_iov = piece;
        header.msg_hdr.msg_iovlen = 1;
        if let Some(from) = departure.from {
            control.push_source(from);
        }
        if let Some(size) = departure.segment {
            control.push(libc::SOL_UDP, libc::UDP_SEGMENT, size);
        }
        if control.length() > 0 {
            header.msg_hdr.msg_control = control.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = control.length() as _;
        }
        count += 1;
    }
    // SAFETY: the first `count` headers point to addresses, pieces, controls and bytes that outlive the
    // call.
    // The kernel only reads them, so that casting their constness away is sound; it writes nothing
    // but `msg_len` of each header.
    let sent = unsafe {
        libc::sendmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr(),
            count,
            libc::MSG_DONTWAIT as _,
        )
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// What kernels take as one message, from 4.18 on; newer ones take more.
pub(super) const SEGMENTS: usize = 64;

/// The queue of the network card is full: the kernel says so to those that asked for errors.
pub(super) fn is_full(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOBUFS)
}

pub(super) fn report_asked(socket: &UdpSocket, family: IpAddr) -> io::Result<()> {
    match family {
        IpAddr::V4(_) => set_option(socket, libc::SOL_IP, libc::IP_PKTINFO, 1),
        // On a socket for both families it tells IPv4 addresses, too, mapped into IPv6.
        IpAddr::V6(_) => set_option(socket, libc::SOL_IPV6, libc::IPV6_RECVPKTINFO, 1),
    }
}

pub(super) fn forbid_fragments(socket: &UdpSocket, family: IpAddr) -> io::Result<()> {
    let v4 = (libc::SOL_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE);
    if family.is_ipv4() {
        return set_option(socket, v4.0, v4.1, v4.2);
    }
    // One for both families heeds both.
    set_option(socket, v4.0, v4.1, v4.2).ok();
    let probe = libc::IPV6_PMTUDISC_PROBE;
    set_option(socket, libc::SOL_IPV6, libc::IPV6_MTU_DISCOVER, probe)
}

pub(super) fn keep_errors(socket: &UdpSocket, to: IpAddr) -> io::Result<()> {
    match to {
        IpAddr::V4(_) => set_option(socket, libc::SOL_IP, libc::IP_RECVERR, 1),
        IpAddr::V6(_) => set_option(socket, libc::SOL_IPV6, libc::IPV6_RECVERR, 1),
    }
}

fn set_option(socket: &UdpSocket, level: i32, option: i32, value: libc::c_int) -> io::Result<()> {
    #[expect(clippy::cast_possible_truncation, reason = "an integer is short")]
    let length = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the option is an integer, which outlives the call and whose size is given.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            ptr::from_ref(&value).cast(),
            length,
        )
    };
    match status {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

pub(super) fn take_error(socket: &UdpSocket) -> io::Result<Failure> {
    let mut name = SockAddrStorage::zeroed();
    // Room for the error and for the address of who sent it.
    let mut control = [0_u64; 16];
    // SAFETY: `msghdr` consists of integers and raw pointers, as `mmsghdr` does.
    let mut header: libc::msghdr = unsafe { mem::zeroed() };
    header.msg_namelen = name.size_of();
    header.msg_name = ptr::from_mut(&mut name).cast();
    header.msg_control = ptr::from_mut(&mut control).cast();
    header.msg_controllen = size_of_val(&control) as _;
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    // SAFETY: the header points to a name and a control buffer that outlive the call, each with its
    // own length, and to no pieces: what the failed datagram held is not wanted.
    let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, flags) };
    if got < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel wrote the address that the datagram was sent to, of this length, into storage
    // that was zero before.
    let to = unsafe { SockAddr::new(name, header.msg_namelen) }.as_socket();
    let (Some(to), Some(error)) = (to, extended_error(&header)) else {
        return Ok(Failure::Other);
    };
    Ok(match error.ee_errno.cast_signed() {
        libc::ECONNREFUSED => Failure::Refused(to),
        libc::EMSGSIZE => Failure::TooLong {
            to,
            mtu: error.ee_info,
        },
        _ => Failure::Other,
    })
}

pub(super) fn raise_file_limit(wanted: usize) -> usize {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure outlives the call, which fills it.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return wanted;
    }
    let raised = libc::rlimit {
        rlim_cur: limit.rlim_max.min(wanted as libc::rlim_t),
        ..limit
    };
    if raised.rlim_cur > limit.rlim_cur {
        // SAFETY: the structure outlives the call, which reads it.
        let status = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) };
        if status == 0 {
            limit = raised;
        }
    }
    usize::try_from(limit.rlim_cur).unwrap_or(wanted)
}

/// Collects what is ready, after waiting for it.
///
/// What mio waits with counts milliseconds. It is itself a file that becomes readable, and `ppoll`
/// waits for that to the nanosecond: one wait instead of one that is too short and a sleep.
pub(super) fn poll(poll: &mut Poll, events: &mut Events, longest: Duration) -> io::Result<()> {
    if !longest.is_zero() {
        wait(poll, longest)?;
    }
    poll.poll(events, Some(Duration::ZERO))
}

fn wait(poll: &Poll, longest: Duration) -> io::Result<()> {
    let mut ready = libc::pollfd {
        fd: poll.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let longest = libc::timespec {
        tv_sec: longest.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: longest.subsec_nanos() as _,
    };
    // SAFETY: both structures outlive the call, there is one file as the count says, and no set of
    // signals to wait with is what null means.
    let status = unsafe { libc::ppoll(&raw mut ready, 1, &raw const longest, ptr::null()) };
    match status {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

const NO_PIECE: libc::iovec = libc::iovec {
    iov_base: ptr::null_mut(),
    iov_len: 0,
};

fn empty_headers() -> [libc::mmsghdr; DATAGRAM_BATCH] {
    // SAFETY: `mmsghdr` consists of integers and raw pointers, for which all zeros is a value. It
    // cannot be written out, because some C libraries add private padding.
    unsafe { mem::zeroed() }
}
