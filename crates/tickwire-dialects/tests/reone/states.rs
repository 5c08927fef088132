//! What `STATES.md` licenses. Every conversation of the scripts fails at a transition that it does not have;
//! `server::transitions` and `client::transitions` see to it that each one that it has happens.

pub(super) const STATES: &str = include_str!("../../src/reone/STATES.md");
