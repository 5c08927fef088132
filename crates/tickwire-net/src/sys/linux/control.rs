//! Control messages: what the kernel tells with a datagram, and is told with one.

use std::mem;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Control messages of one header: whole words, because they are aligned to them. Room for an address
/// and for a size.
#[derive(Clone, Copy)]
pub(super) struct Control {
    words: [u64; 8],
    /// Bytes written.
    length: usize,
}

impl Control {
    pub(super) const EMPTY: Self = Self {
        words: [0; 8],
        length: 0,
    };

    /// Bytes that there is room for.
    pub(super) const CAPACITY: usize = size_of::<[u64; 8]>();

    pub(super) const fn as_mut_ptr(&mut self) -> *mut u64 {
        self.words.as_mut_ptr()
    }

    /// Bytes that were pushed.
    pub(super) const fn length(&self) -> usize {
        self.length
    }

    /// Has the datagram sent from this address, which is of the socket's family.
    pub(super) fn push_source(&mut self, from: IpAddr) {
        match from {
            IpAddr::V4(ip) => {
                let source = libc::in_pktinfo {
                    ipi_ifindex: 0,
                    ipi_spec_dst: libc::in_addr {
                        s_addr: u32::from_ne_bytes(ip.octets()),
                    },
                    ipi_addr: libc::in_addr { s_addr: 0 },
                };
                self.push(libc::SOL_IP, libc::IP_PKTINFO, source);
            }
            IpAddr::V6(ip) => {
                let source = libc::in6_pktinfo {
                    ipi6_addr: libc::in6_addr {
                        s6_addr: ip.octets(),
                    },
                    ipi6_ifindex: 0,
                };
                self.push(libc::SOL_IPV6, libc::IPV6_PKTINFO, source);
            }
        }
    }

    pub(super) fn push<T: Copy>(&mut self, level: i32, kind: i32, data: T) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "these structures are short"
        )]
        let size = size_of::<T>() as u32;
        // SAFETY: the macros only compute with the size.
        let (header_length, length, space) = unsafe {
            (
                libc::CMSG_LEN(0),
                libc::CMSG_LEN(size),
                libc::CMSG_SPACE(size),
            )
        };
        let end = self.length + space as usize;
        assert!(end <= Self::CAPACITY, "room for all there are");
        // SAFETY: `cmsghdr` consists of integers, and padding in some C libraries.
        let mut header: libc::cmsghdr = unsafe { mem::zeroed() };
        header.cmsg_len = length as _;
        header.cmsg_level = level;
        header.cmsg_type = kind;
        // SAFETY: both writes are within the words, as asserted: a message of `space` bytes begins
        // where the last one ended, and its data `header_length` bytes later.
        unsafe {
            let at = self.words.as_mut_ptr().cast::<u8>().add(self.length);
            at.cast::<libc::cmsghdr>().write_unaligned(header);
            at.add(header_length as usize)
                .cast::<T>()
                .write_unaligned(data);
        }
        self.length = end;
    }
}

/// The address of this machine that a datagram was sent to, if it can be answered from there.
pub(super) fn asked_address(header: &libc::msghdr) -> Option<IpAddr> {
    control_messages(header).find_map(|message| {
        match (message.cmsg_level, message.cmsg_type) {
            (libc::SOL_IP, libc::IP_PKTINFO) => {
                // SAFETY: a message of this kind holds this structure, of integers only.
                let info = unsafe { read_data::<libc::in_pktinfo>(message) };
                Some(Ipv4Addr::from(info.ipi_spec_dst.s_addr.to_ne_bytes()).into())
            }
            (libc::SOL_IPV6, libc::IPV6_PKTINFO) => {
                // SAFETY: as above.
                let info = unsafe { read_data::<libc::in6_pktinfo>(message) };
                let ip = Ipv6Addr::from(info.ipi6_addr.s6_addr);
                let is_group = match ip.to_canonical() {
                    IpAddr::V4(ip) => ip.is_multicast() || ip.is_broadcast(),
                    IpAddr::V6(ip) => ip.is_multicast(),
                };
                (!is_group).then_some(ip.into())
            }
            _ => None,
        }
    })
}

/// The error that a message of the error queue is about.
pub(super) fn extended_error(header: &libc::msghdr) -> Option<libc::sock_extended_err> {
    control_messages(header).find_map(|message| {
        let is_error = matches!(
            (message.cmsg_level, message.cmsg_type),
            (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR)
        );
        // SAFETY: what a message of this kind holds begins with this structure, of integers only.
        is_error.then(|| unsafe { read_data::<libc::sock_extended_err>(message) })
    })
}

/// The control messages that the kernel wrote for a header.
fn control_messages(header: &libc::msghdr) -> impl Iterator<Item = &libc::cmsghdr> {
    // SAFETY: the kernel wrote the messages and their total length into the header's buffer, which is
    // aligned for them and outlives the header; the macros stay within that length.
    let first = unsafe { libc::CMSG_FIRSTHDR(header).as_ref() };
    std::iter::successors(first, move |message| {
        // SAFETY: as above.
        unsafe { libc::CMSG_NXTHDR(header, *message).as_ref() }
    })
}

/// What a control message holds.
///
/// # Safety
/// It must hold a `T`, for which any bits are a value.
unsafe fn read_data<T>(message: &libc::cmsghdr) -> T {
    // SAFETY: the caller says that a `T` follows the message's header.
    unsafe { libc::CMSG_DATA(message).cast::<T>().read_unaligned() }
}
