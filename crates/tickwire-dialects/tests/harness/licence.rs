//! What a STATES.md licenses, compared with what sessions do.
//!
//! In: the tables of a document, and a session to look at after every call. Out: a failure for a transition
//! that no row licenses, and from [`Licence::check_all`] for one that is licensed and was never seen.

use std::collections::{BTreeMap, BTreeSet};

use tickwire_session::{Host, Session};

/// The transitions that some tables have.
#[derive(Debug)]
pub(crate) struct Licence {
    transitions: BTreeSet<Transition>,
    /// What leaves a peer in its state, for each state.
    #[allow(dead_code, reason = "not every dialect walks them by this list")]
    pub(crate) stays: BTreeSet<(&'static str, String)>,
    absent: &'static str,
}

/// From which state to which.
pub(crate) type Transition = (&'static str, &'static str);

/// The words of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// How the head of a table begins.
    pub(crate) head: &'static str,
    /// What statistics call each state.
    pub(crate) states: &'static [&'static str],
    /// The state of a peer that statistics do not show; so is an empty cell.
    pub(crate) absent: &'static str,
    /// Cells that stand for other states than those that they name.
    pub(crate) groups: &'static [(&'static str, &'static [&'static str])],
}

impl Licence {
    /// Reads every table with this head in some parts of a document. A row is: state or states, what
    /// happens, next state.
    pub(crate) fn read(document: &str, parts: &[&str], words: Words) -> Self {
        let (mut transitions, mut unmoved) = (BTreeSet::new(), BTreeSet::new());
        for part in parts {
            let (_, text) = document.split_once(part).expect("a part of the document");
            let text = text.split("\n## ").next().unwrap_or_default();
            let mut lines = text
                .lines()
                .skip_while(|line| !line.starts_with(words.head));
            assert!(lines.next().is_some(), "{part} has no table");
            for row in lines.skip(1).take_while(|line| line.starts_with('|')) {
                let cells: Vec<_> = row.split('|').map(str::trim).collect();
                let from = words.states_in(cells[1]);
                let to = words.states_in(cells[3]);
                assert!(!from.is_empty(), "no state in: {row}");
                let stays = ["same", "the same"].contains(&cells[3]);
                assert_eq!(stays, to.is_empty(), "no state in: {row}");
                for &from in &from {
                    if stays || to.contains(&from) {
                        unmoved.insert((from, cells[2].to_owned()));
                    }
                    let others = to.iter().filter(|to| **to != from);
                    transitions.extend(others.map(|to| (from, *to)));
                }
            }
        }
        let absent = words.absent;
        Self {
            transitions,
            stays: unmoved,
            absent,
        }
    }

    /// Fails unless these are all that there are.
    #[track_caller]
    pub(crate) fn check_all(&self, seen: &BTreeSet<Transition>) {
        let unseen: Vec<_> = self.transitions.difference(seen).collect();
        assert!(unseen.is_empty(), "licensed, and never seen: {unseen:?}");
    }
}

impl Words {
    fn states_in(&self, cell: &str) -> Vec<&'static str> {
        if let Some((_, states)) = self.groups.iter().find(|(group, _)| *group == cell) {
            return states.to_vec();
        }
        if cell.is_empty() {
            return vec![self.absent];
        }
        let words = || cell.split([' ', ',', ';']).filter(|word| !word.is_empty());
        let is_named = |state: &&str| words().any(|word| word == *state);
        let states = self.states.iter().chain([&self.absent]).copied();
        states.filter(is_named).collect()
    }
}

/// The states of a session's peers, and how they came to be in them.
pub(crate) struct Watch {
    licence: &'static Licence,
    /// By host; nothing where several peers are on one, which cannot be told apart.
    states: BTreeMap<Host, Option<&'static str>>,
    pub(crate) seen: BTreeSet<Transition>,
}

impl Watch {
    pub(crate) const fn new(licence: &'static Licence) -> Self {
        Self {
            licence,
            states: BTreeMap::new(),
            seen: BTreeSet::new(),
        }
    }

    /// Looks at what became of everybody. Whatever no row licenses is a failure.
    #[track_caller]
    pub(crate) fn look(&mut self, session: &dyn Session) {
        let mut states = BTreeMap::new();
        session.visit_peers(&mut |peer| {
            let several = |state: &mut Option<_>| *state = None;
            let known = states.entry(peer.addr.host).and_modify(several);
            known.or_insert(Some(peer.state));
        });
        // Nearly always so, and a crowd is looked at often.
        if states == self.states {
            return;
        }
        let absent = Some(self.licence.absent);
        let hosts: BTreeSet<_> = self.states.keys().chain(states.keys()).copied().collect();
        for host in hosts {
            let before = self.states.get(&host).copied().unwrap_or(absent);
            let after = states.get(&host).copied().unwrap_or(absent);
            if let (Some(before), Some(after)) = (before, after)
                && before != after
            {
                let transition = (before, after);
                let is_licensed = self.licence.transitions.contains(&transition);
                assert!(is_licensed, "STATES.md has no way from {before} to {after}");
                self.seen.insert(transition);
            }
        }
        self.states = states;
    }
}
