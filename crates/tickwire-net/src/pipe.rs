//! Memory links, and streams over them.
//!
//! A link joins two nodes of one driver; each knows the other by the link's number. A stream over a
//! link is a pipe: what one end sends lies in the other's inbox until the next turn, so that the
//! room of a pipe is whole again every turn and nothing is ever kept on the way.

use std::collections::BTreeMap;

use slab::Slab;
use tickwire_session::{Addr, Ended, Host, Path};

use crate::limits::STREAM_PENDING;
use crate::node::{Carrier, End, Node};
use crate::stream::Overdrawn;

/// The links of a driver: for each end of which a session will hear more, the node at the other.
#[derive(Debug, Default)]
pub(crate) struct Links {
    far: BTreeMap<LinkEnd, usize>,
    next: u64,
}

/// One end of a link: its number and the node.
type LinkEnd = (u64, usize);

impl Links {
    /// A number for a link. None is used again: equal links are one peer.
    pub(crate) const fn number(&mut self) -> u64 {
        let link = self.next;
        self.next += 1;
        link
    }

    pub(crate) fn join(&mut self, [a, b]: [usize; 2]) -> u64 {
        let link = self.number();
        self.far.insert((link, a), b);
        self.far.insert((link, b), a);
        link
    }

    /// Whether the session of this node still has the link.
    pub(crate) fn has(&self, link: u64, node: usize) -> bool {
        self.far.contains_key(&(link, node))
    }

    /// The node at the other end, unless either of them has left the link.
    pub(crate) fn far(&self, link: u64, node: usize) -> Option<usize> {
        let far = *self.far.get(&(link, node))?;
        self.has(link, far).then_some(far)
    }

    /// The links that a node still has.
    pub(crate) fn of(&self, node: usize) -> Vec<u64> {
        let is_here = |&&(_, at): &&LinkEnd| at == node;
        self.far
            .keys()
            .filter(is_here)
            .map(|(link, _)| *link)
            .collect()
    }

    /// Forgets one end: its session ended the link, or was told that it ended. Returns whether it
    /// was there.
    pub(crate) fn leave(&mut self, link: u64, node: usize) -> bool {
        self.far.remove(&(link, node)).is_some()
    }
}

/// The links of one node.
#[derive(Debug)]
pub(crate) struct NodeLinks<'a> {
    pub(crate) links: &'a mut Links,
    pub(crate) node: usize,
}

impl NodeLinks<'_> {
    /// Whether the node still has the link that `from` names.
    pub(crate) fn reaches(&self, from: Addr) -> bool {
        matches!(from.host, Host::Link(link) if self.links.has(link, self.node))
    }

    pub(crate) fn leave(&mut self, link: u64) -> bool {
        self.links.leave(link, self.node)
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
    /// What it runs over.
    link: u64,
    /// What the session may send, as far as it knows.
    room: usize,
    /// The news that there is room again is in the inbox.
    told: bool,
}

impl Pipe {
    /// A pipe whose session will be told of the room.
    const fn new(far: End, link: u64) -> Self {
        Self {
            far,
            link,
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
pub(crate) fn dial(nodes: &mut Slab<Node>, near: End, to: usize, link: u64) -> Result<(), Ended> {
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
            node.streams
                .insert(end.on, Carrier::Pipe(Pipe::new(other, link)));
            node.inbox.push_opened(end.on, link_addr(link));
            node.inbox.push_room(end.on);
        }
    }
    Ok(())
}

/// Sends on the pipe of which `near` is an end.
pub(crate) fn send(nodes: &mut Slab<Node>, near: End, bytes: &[u8]) -> Result<(), Overdrawn> {
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
pub(crate) fn end(nodes: &mut Slab<Node>, pipe: &Pipe, why: Ended) {
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

/// Ends a link at one end: cuts its streams there, and tells the other end of them and then of the
/// link. Returns whether that end still had the link.
pub(crate) fn unlink(nodes: &mut Slab<Node>, links: &mut Links, link: u64, node: usize) -> bool {
    let far = links.far(link, node);
    if !links.leave(link, node) {
        return false;
    }
    let mut cut = Vec::new();
    if let Some(node) = nodes.get_mut(node) {
        let runs_over =
            |carrier: &mut Carrier| matches!(carrier, Carrier::Pipe(pipe) if pipe.link == link);
        let over = node.streams.extract_if(.., |_, carrier| runs_over(carrier));
        cut.extend(over.map(|(_, carrier)| carrier));
    }
    for carrier in cut {
        if let Carrier::Pipe(pipe) = carrier {
            end(nodes, &pipe, Ended::Reset);
        }
    }
    if let Some(far) = far.and_then(|far| nodes.get_mut(far)) {
        far.inbox.push_closed(Path::Link(link), Ended::Finished);
    }
    true
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

        // The other end still has it, until it is told; but it leads nowhere.
        assert!(links.leave(link, 4) && !links.leave(link, 4));
        assert!(links.has(link, 7));
        assert_eq!(links.far(link, 7), None);
    }
}
