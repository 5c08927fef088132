//! How large the datagrams to an address may be, known before anybody is there.
//!
//! In: what the driver reports of datagram paths. Out: the largest datagram that a path takes, for a
//! session whose peer shows up at an address after the report. Only narrow paths are remembered, since
//! most are not; what is sent on a path that is too narrow is the protocol's.

use alloc::collections::BTreeMap;

use crate::{Addr, Room};

/// The datagram paths that take less than [`Room::DATAGRAMS`]: never more than it was made for.
#[derive(Clone, Debug)]
pub struct Rooms {
    narrow: BTreeMap<Addr, u16>,
    most: usize,
}

impl Rooms {
    /// Every path is as wide as usual. At most `most` narrow ones are remembered; further reports are
    /// ignored.
    pub const fn new(most: usize) -> Self {
        Self {
            narrow: BTreeMap::new(),
            most,
        }
    }

    /// What a path takes from now on.
    pub fn set(&mut self, addr: Addr, room: Room) {
        if room.largest >= Room::DATAGRAMS.largest {
            self.narrow.remove(&addr);
        } else if self.narrow.len() < self.most || self.narrow.contains_key(&addr) {
            self.narrow.insert(addr, room.largest);
        }
    }

    /// A path ended: one that begins there later is as wide as usual.
    pub fn remove(&mut self, addr: Addr) {
        self.narrow.remove(&addr);
    }

    /// The largest datagram that a session sends there; never more than usual.
    pub fn largest(&self, addr: Addr) -> u16 {
        let narrow = self.narrow.get(&addr).copied();
        narrow.unwrap_or(Room::DATAGRAMS.largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Host;

    const USUAL: u16 = Room::DATAGRAMS.largest;

    fn at(port: u16) -> Addr {
        Addr {
            host: Host::Link(1),
            port,
        }
    }

    fn room(largest: u16) -> Room {
        Room {
            largest,
            ..Room::DATAGRAMS
        }
    }

    #[test]
    fn the_last_report_of_a_path_holds_until_it_ends() {
        let mut rooms = Rooms::new(4);
        assert_eq!(rooms.largest(at(1)), USUAL);
        for (reported, largest) in [
            (500, 500),
            (700, 700),
            (USUAL, USUAL),
            (USUAL - 1, USUAL - 1),
            (u16::MAX, USUAL),
            (0, 0),
        ] {
            rooms.set(at(1), room(reported));
            assert_eq!(rooms.largest(at(1)), largest);
            assert_eq!(rooms.largest(at(2)), USUAL);
        }
        rooms.remove(at(1));
        assert_eq!(rooms.largest(at(1)), USUAL);
    }

    #[test]
    fn so_many_narrow_paths_are_remembered_and_no_more() {
        let mut rooms = Rooms::new(2);
        (1..=3).for_each(|port| rooms.set(at(port), room(500)));
        assert_eq!(
            [1, 2, 3].map(|port| rooms.largest(at(port))),
            [500, 500, USUAL]
        );
        rooms.set(at(2), room(400));
        assert_eq!(rooms.largest(at(2)), 400);
        // Wide ones take no place, and one that widened or ended leaves its own.
        rooms.set(at(4), room(USUAL));
        rooms.set(at(1), room(USUAL));
        rooms.remove(at(2));
        (3..=5).for_each(|port| rooms.set(at(port), room(600)));
        assert_eq!(
            [3, 4, 5].map(|port| rooms.largest(at(port))),
            [600, 600, USUAL]
        );
    }
}
