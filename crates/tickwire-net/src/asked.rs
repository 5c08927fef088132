//! Which address of this machine each peer talks to.
//!
//! A server that is bound to all addresses of its machine must answer from the one that was asked:
//! anything else is dropped by the peer's firewall, or by a peer that knows whom it asked. In: where
//! each datagram came from and what address it was sent to. Out: what address to send from. Who it was
//! that asked is anybody's claim, so the table is bounded; a peer that is forgotten is answered from
//! the address that the system chooses, until its next datagram.

use std::collections::HashMap;
use std::mem;
use std::net::{IpAddr, SocketAddr};

use crate::limits::PEERS_ASKING;

/// Two generations: when the first is full it becomes the second, and that is forgotten. Who sends
/// before that many strangers did is always in the first.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    recent: HashMap<SocketAddr, IpAddr>,
    older: HashMap<SocketAddr, IpAddr>,
}

impl Asked {
    /// A datagram of `peer` was sent to `local`.
    pub(crate) fn insert(&mut self, peer: SocketAddr, local: IpAddr) {
        if self.recent.get(&peer) == Some(&local) {
            return;
        }
        if self.recent.len() == PEERS_ASKING {
            self.older = mem::take(&mut self.recent);
        }
        self.recent.insert(peer, local);
    }

    /// The address to answer `peer` from.
    pub(crate) fn get(&self, peer: SocketAddr) -> Option<IpAddr> {
        let found = self.recent.get(&peer).or_else(|| self.older.get(&peer));
        found.copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stranger(number: usize) -> SocketAddr {
        let [.., a, b, c] = number.to_be_bytes();
        SocketAddr::from(([10, a, b, c], 4_000))
    }

    #[test]
    fn strangers_push_out_only_those_who_are_silent() {
        let [first, second] = [1, 2].map(|n| IpAddr::from([127, 0, 0, n]));
        let [silent, active] = [1, 2].map(|n| SocketAddr::from(([192, 0, 2, n], 4_000)));
        let mut asked = Asked::default();
        asked.insert(silent, first);
        for number in 0..3 * PEERS_ASKING {
            if number % (PEERS_ASKING / 2) == 0 {
                asked.insert(active, second);
            }
            asked.insert(stranger(number), first);
            assert_eq!(asked.get(active), Some(second));
        }
        assert_eq!(asked.get(silent), None);
        assert!(asked.recent.len() <= PEERS_ASKING && asked.older.len() <= PEERS_ASKING);

        // Whoever asks another address is answered from there.
        asked.insert(active, first);
        assert_eq!(asked.get(active), Some(first));
    }
}
