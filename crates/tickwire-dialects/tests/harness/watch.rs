//! The states that a session's statistics show, held to its STATES.md.
//!
//! In: what each of those that a script speaks for is said to be, after every word. Out: a failure at a
//! transition that no row of the document licenses, and which ones there were.

use std::collections::{BTreeMap, BTreeSet};

use tickwire_session::{PeerStats, Session};

use crate::licence::{Licence, Transition};

/// What was seen of those whose key is `K`.
#[derive(Debug)]
pub(crate) struct Watch<K> {
    licence: &'static Licence,
    /// What the document calls those that statistics do not show.
    unseen: &'static str,
    states: BTreeMap<K, &'static str>,
    /// Every transition so far.
    pub(crate) seen: BTreeSet<Transition>,
}

impl<K: Ord + Copy> Watch<K> {
    pub(crate) const fn new(licence: &'static Licence, unseen: &'static str) -> Self {
        Self {
            licence,
            unseen,
            states: BTreeMap::new(),
            seen: BTreeSet::new(),
        }
    }

    /// Compares what a session shows with what it showed before. `key` tells one peer from another; those
    /// without one are not watched.
    #[track_caller]
    pub(crate) fn look(
        &mut self,
        session: &impl Session,
        key: impl Fn(&PeerStats<'_>) -> Option<K>,
    ) {
        let mut states = BTreeMap::new();
        session.visit_peers(&mut |peer| {
            states.extend(key(peer).map(|key| (key, peer.state)));
        });
        let before = core::mem::replace(&mut self.states, states);
        let everybody: BTreeSet<K> = before.keys().chain(self.states.keys()).copied().collect();
        for who in everybody {
            let state = |states: &BTreeMap<K, _>| states.get(&who).copied().unwrap_or(self.unseen);
            let (from, to) = (state(&before), state(&self.states));
            if from != to {
                self.licence.check((from, to));
                self.seen.insert((from, to));
            }
        }
    }
}
