//! Every transition of a connection that `STATES.md` has happens, and no other does.

use std::collections::BTreeSet;

use tickwire_session::{Session as _, WAITING_MAX};

use super::script::{Script, ms};
use super::words::{login, say};

const STATES: &str = include_str!("../../src/pixmess/STATES.md");

/// From one state to another; there is none before a connection opens, and `(gone)` after it.
type Transition = (String, String);

/// The transitions of the server's table. Rows that lead to where they came from are no transitions.
fn licensed() -> BTreeSet<Transition> {
    let (_, server) = STATES
        .split_once("## Server")
        .expect("a part about servers");
    let (table, _) = server.split_once("### Questions").expect("its end");
    let all = ["Greeting", "Entering", "Playing", "Watching", "Closing"];
    let mut licensed = BTreeSet::new();
    let rows = table.lines().filter(|line| line.starts_with("| "));
    for row in rows.filter(|row| !row.starts_with("| from ")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let (from, to) = (cells[1], cells[3]);
        let from = match from {
            "any" => all.to_vec(),
            "any but Closing" => all[..4].to_vec(),
            some => some.split(", ").collect(),
        };
        for from in from
            .into_iter()
            .filter(|from| !["the same", from].contains(&to))
        {
            assert!(from.is_empty() || all.contains(&from), "{row}");
            licensed.insert((from.to_owned(), to.to_owned()));
        }
    }
    licensed
}

/// A script that watches one connection.
struct Watched {
    script: Script,
    seen: BTreeSet<Transition>,
}

const WHO: u32 = 7;

impl Watched {
    /// Does something, and notes what that did to the connection.
    fn step(&mut self, act: impl FnOnce(&mut Script)) {
        let before = self.script.state(WHO);
        act(&mut self.script);
        let after = self.script.state(WHO);
        if before != after {
            let (from, to) = (before.unwrap_or_default(), after.unwrap_or("(gone)"));
            self.seen.insert((from.to_owned(), to.to_owned()));
        }
    }

    /// A connection that reads nothing yet, in this state, on a server whose game only answers when it
    /// is told to.
    fn reach(&mut self, state: &str) {
        self.script = Script::new();
        self.step(|s| s.open_deaf(WHO));
        if state == "Greeting" {
            return;
        }
        if state == "Closing" {
            return self.step(|s| s.send(WHO, &[say("hello")]));
        }
        self.script.game.silent = true;
        let name = if state == "Watching" { "" } else { "ann" };
        self.step(|s| s.send(WHO, &[login(2, name)]));
        if state != "Entering" {
            self.step(|s| {
                let asked = s.events().pop().expect("a question");
                s.game.silent = false;
                s.act(|now, game, server| game.handle(now, server, &asked));
            });
        }
        assert_eq!(self.script.state(WHO), Some(state));
    }
}

#[test]
fn every_transition_of_the_document_happens_and_no_other() {
    let mut watched = Watched {
        script: Script::new(),
        seen: BTreeSet::new(),
    };
    let w = &mut watched;
    let kick = |s: &mut Script| s.send_bytes(WHO, &[0x7f, 0x00]);
    let unknown = |s: &mut Script| s.send_bytes(WHO, &[0x01]);
    let end_server = |s: &mut Script| s.act(|now, _, server| server.shut_down(now));
    for state in ["Greeting", "Entering", "Playing", "Watching", "Closing"] {
        for act in [kick, unknown, end_server] {
            w.reach(state);
            w.step(act);
            // Two seconds are left to read what it was told.
            w.step(|s| s.advance(ms(1_999)));
            w.step(|s| s.advance(ms(1)));
        }
        w.reach(state);
        w.step(|s| s.close(WHO));
        w.reach(state);
        w.step(|s| s.advance(ms(5_000)));
        w.step(|s| s.advance(ms(15_000)));
        w.step(|s| s.set_deaf(WHO, false));
    }
    w.reach("Greeting");
    w.step(|s| {
        for who in 1_000..=1_000 + u32::try_from(WAITING_MAX).unwrap() {
            s.open(who);
        }
    });
    w.script = Script::new();
    end_server(&mut w.script);
    w.step(|s| s.open_deaf(WHO));
    let licensed = licensed();
    let unseen: Vec<_> = licensed.difference(&watched.seen).collect();
    let unlicensed: Vec<_> = watched.seen.difference(&licensed).collect();
    assert!(unseen.is_empty(), "never seen: {unseen:?}");
    assert!(unlicensed.is_empty(), "not in the document: {unlicensed:?}");
}
