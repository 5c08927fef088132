//! What `STATES.md` licenses. Every conversation of the scripts fails at a transition that it does not have;
//! `server::transitions` and `client::transitions` see to it that each one that it has happens, and
//! `server::staying` and `client::staying` that each row does what it says in which a client stays where it is.

pub(super) const STATES: &str = include_str!("../../src/reone/STATES.md");

/// The rows of a part's table in which nothing moves on: the states, and what happens.
pub(super) fn staying(part: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let (_, text) = STATES.split_once(part).expect("a part of the document");
    let text = text.split("\n## ").next().unwrap_or_default();
    text.lines().filter_map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        match cells[..] {
            ["", states, what, "same", ..] => Some((states, what)),
            _ => None,
        }
    })
}
