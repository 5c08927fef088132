//! Memory links, and streams over them.
//!
//! A link joins two nodes of one driver; each knows the other by the link's number. A stream over a
//! link is a pipe: what one end sends lies in the other's inbox until the next turn, so that the
//! room of a pipe is whole again every turn and nothing is ever kept on the way.

use std::collections::BTreeMap;

use tickwire_session::{Addr, Ended, Host, Path};

use crate::limits::STREAM_PENDING;
use crate::node::{Carrier, End, Node};
use crate::slots::Slots;
use crate::stream::Overdrawn;

/// The links of a driver: number to the positions of both nodes.
#[derive(Debug, Default)]
pub(crate) struct Links {
    ends: BTreeMap<u64, [usize; 2]>,
    next: u64,
}

impl Links {
    /// Numbers are never used again: equal links are one peer.
    pub(crate) fn join(&mut self, nodes: [usize; 2]) -> u64 {
        let link = self.next;
        self.next += 1;
        self.ends.insert(link, nodes);
        link
    }

    /// The node at the other end.
    pub(crate) fn far(&self, link: u64, node: usize) -> Option<usize> {
        match *self.ends.get(&link)? {
            [near, far] if near == node => Some(far),
            [far, near] if near == node => Some(far),
            _ => None,
        }
    }

    /// Forgets the links of a node, and tells the nodes at the other ends.
    pub(crate) fn leave(&mut self, node: usize, nodes: &mut Slots<Node>) {
        self.ends.retain(|&link, ends| {
            if !ends.contains(&node) {
                return true;
            }
            for far in ends.iter().filter(|&&far| far != node) {
                if let Some(far) = nodes.get_mut(*far) {
                    let path = Path::Datagrams(link_addr(link));
                    far.inbox.push_closed(path, Ended::Finished);
                }
            }
            false
        });
    }
}

/// How both ends of a link name the other.
pub(crate) const fn link_addr(link: u64) -> Addr {
    Addr {
        host: Host::Link(link),
        port: 0,
    }
}

/// One end's view of a pipe.
#[derive(Debug)]
pub(crate) struct Pipe {
    far: End,
    /// What the session may send, as far as it knows.
    room: usize,
    /// The news that there is room again is in the inbox.
    told: bool,
}

impl Pipe {
    /// A pipe whose session will be told of the room.
    const fn new(far: End) -> Self {
        Self {
            far,
            room: 0,
            told: true,
        }
    }

    /// The session hears that there is room for everything.
    pub(crate) const fn refill(&mut self) {
        self.room = STREAM_PENDING;
        self.told = false;
    }
}

/// Opens a stream from `near` to the node `to`, over `link`.
pub(crate) fn dial(nodes: &mut Slots<Node>, near: End, to: usize, link: u64) -> Result<(), Ended> {
    let callee = nodes.get_mut(to).ok_or(Ended::Unreachable)?;
    if !callee.carries.streams() {
        return Err(Ended::Refused);
    }
    let far = End {
        node: to,
        on: callee.number_accepted(),
    };
    for (end, other) in [(near, far), (far, near)] {
        if let Some(node) = nodes.get_mut(end.node) {
            node.streams.insert(end.on, Carrier::Pipe(Pipe::new(other)));
            node.inbox.push_opened(end.on, link_addr(link));
            node.inbox.push_room(end.on);
        }
    }
    Ok(())
}

/// Sends on the pipe of which `near` is an end.
pub(crate) fn send(nodes: &mut Slots<Node>, near: End, bytes: &[u8]) -> Result<(), Overdrawn> {
    let Some(node) = nodes.get_mut(near.node) else {
        return Ok(());
    };
    let Some(Carrier::Pipe(pipe)) = node.streams.get_mut(&near.on) else {
        return Ok(());
    };
    pipe.room = pipe.room.checked_sub(bytes.len()).ok_or(Overdrawn)?;
    if !pipe.told {
        pipe.told = true;
        node.inbox.push_room(near.on);
    }
    let far = pipe.far;
    if let Some(node) = nodes.get_mut(far.node) {
        node.inbox.push_bytes(far.on, bytes);
    }
    Ok(())
}

/// Ends a pipe that its session no longer has, and tells the other end.
pub(crate) fn end(nodes: &mut Slots<Node>, pipe: &Pipe, why: Ended) {
    let far = pipe.far;
    if let Some(node) = nodes.get_mut(far.node)
        && let Some(carrier) = node.streams.get_mut(&far.on)
    {
        // At once, because the position of the node at this end may be used again before the news
        // is handed in.
        *carrier = Carrier::Ended;
        node.inbox.push_closed(Path::Stream(far.on), why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_only_to_its_other_end() {
        let mut links = Links::default();
        let link = links.join([4, 7]);
        assert_eq!(links.far(link, 4), Some(7));
        assert_eq!(links.far(link, 7), Some(4));
        assert_eq!(links.far(link, 5), None);
        assert_eq!(links.far(link + 1, 4), None);
    }
}
