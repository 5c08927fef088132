//! What a STATES.md licenses, to be compared with what a session does.
//!
//! In: a document, and the transitions that a session was seen to make. Out: a failure for a transition
//! that no row of its table licenses, and for one that is licensed and was never seen.

use std::collections::BTreeSet;

/// A table of transitions.
#[derive(Debug)]
pub(crate) struct Licence {
    transitions: BTreeSet<Transition>,
}

/// From which state to which.
pub(crate) type Transition = (&'static str, &'static str);

/// The words of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// How the head of the table begins.
    pub(crate) head: &'static str,
    /// What statistics call each state; the last stands for all that they do not show.
    pub(crate) states: &'static [&'static str],
    /// What the table calls states that statistics do not show.
    pub(crate) hidden: &'static [&'static str],
    /// What stands for several states.
    pub(crate) groups: &'static [(&'static str, &'static [&'static str])],
}

impl Licence {
    /// Reads the first table with this head. A row is: state or states, what happens, next state.
    pub(crate) fn read(document: &str, words: Words) -> Self {
        let mut lines = document.lines();
        lines
            .find(|line| line.starts_with(words.head))
            .expect("the table is there");
        let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
        let mut transitions = BTreeSet::new();
        for row in rows {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            let from = words.states_in(cells[1]);
            let to = words.states_in(cells[3]);
            assert!(!from.is_empty(), "no state in: {row}");
            assert!(!to.is_empty() || cells[3] == "same", "no state in: {row}");
            for &from in &from {
                let others = to.iter().filter(|to| **to != from);
                transitions.extend(others.map(|to| (from, *to)));
            }
        }
        Self { transitions }
    }

    /// Fails if no row licenses this.
    #[track_caller]
    pub(crate) fn check(&self, transition: Transition) {
        let (from, to) = transition;
        assert!(
            self.transitions.contains(&transition),
            "STATES.md has no way from {from} to {to}"
        );
    }

    /// Fails unless these are all that there are.
    #[track_caller]
    pub(crate) fn check_all(&self, seen: &BTreeSet<Transition>) {
        seen.iter().for_each(|transition| self.check(*transition));
        let unseen: Vec<_> = self.transitions.difference(seen).collect();
        assert!(unseen.is_empty(), "licensed, and never seen: {unseen:?}");
    }
}

impl Words {
    fn states_in(&self, cell: &str) -> Vec<&'static str> {
        if let Some((_, states)) = self.groups.iter().find(|(group, _)| *group == cell) {
            return states.to_vec();
        }
        let unseen = self.states.last().expect("there are states");
        let is_named = |state: &&str| cell.split([' ', ',', ';']).any(|word| word == *state);
        let mut found: Vec<_> = self.states.iter().copied().filter(is_named).collect();
        if self.hidden.iter().any(is_named) && !found.contains(unseen) {
            found.push(unseen);
        }
        found
    }
}
