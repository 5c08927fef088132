//! How many links one address may have.
//!
//! In: links that are let in, and how they end. Out: whether an address may have another. A link that its
//! session ended is over at once. One that broke, or that the peer ended, counts for [`LINK_REST`] more: its
//! session may keep the place for whoever comes back, so that hanging up and calling again takes another.

use std::collections::{BTreeMap, VecDeque};

use tickwire_session::{Host, Instant};

use crate::limits::{LINK_REST, LINK_RESTING};

#[derive(Debug)]
pub(super) struct Shares {
    most: usize,
    links: BTreeMap<Host, usize>,
    /// Those that ended, until when they count; the oldest first.
    resting: VecDeque<(Instant, Host)>,
}

impl Shares {
    pub(super) const fn new(most: usize) -> Self {
        Self {
            most,
            links: BTreeMap::new(),
            resting: VecDeque::new(),
        }
    }

    /// Whether an address has all that it may have.
    pub(super) fn is_used_up(&mut self, now: Instant, host: Host) -> bool {
        while let Some(&(until, host)) = self.resting.front()
            && (until <= now || self.resting.len() > LINK_RESTING)
        {
            self.resting.pop_front();
            self.remove(host);
        }
        self.links.get(&host).is_some_and(|&has| has >= self.most)
    }

    pub(super) fn add(&mut self, host: Host) {
        *self.links.entry(host).or_default() += 1;
    }

    /// A session ended a link.
    pub(super) fn remove(&mut self, host: Host) {
        if let Some(has) = self.links.get_mut(&host) {
            *has -= 1;
            if *has == 0 {
                self.links.remove(&host);
            }
        }
    }

    /// A link ended in another way.
    pub(super) fn rest(&mut self, now: Instant, host: Host) {
        self.resting.push_back((now + LINK_REST, host));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_millis(5);
    const HOSTS: [Host; 2] = [Host::Link(1), Host::Link(2)];

    #[test]
    fn an_address_has_its_share_and_others_have_theirs() {
        let mut shares = Shares::new(2);
        shares.add(HOSTS[0]);
        assert!(!shares.is_used_up(NOW, HOSTS[0]));
        shares.add(HOSTS[0]);
        assert!(shares.is_used_up(NOW, HOSTS[0]));
        assert!(!shares.is_used_up(NOW, HOSTS[1]));
        shares.remove(HOSTS[0]);
        assert!(!shares.is_used_up(NOW, HOSTS[0]));
    }

    #[test]
    fn hanging_up_does_not_free_a_place_at_once() {
        let mut shares = Shares::new(1);
        shares.add(HOSTS[0]);
        shares.rest(NOW, HOSTS[0]);
        assert!(shares.is_used_up(NOW, HOSTS[0]));
        assert!(!shares.is_used_up(NOW + LINK_REST, HOSTS[0]));
        assert!(shares.links.is_empty() && shares.resting.is_empty());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut shares = Shares::new(1);
        for number in 0..3 * LINK_RESTING as u64 {
            let host = Host::Link(number);
            assert!(!shares.is_used_up(NOW, host));
            shares.add(host);
            shares.rest(NOW, host);
        }
        assert!(shares.links.len() <= LINK_RESTING + 2);
    }
}
