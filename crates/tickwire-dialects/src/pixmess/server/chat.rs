//! What clients say to each other, and to the server.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use tickwire_session::{Instant, PeerId};

use super::{Server, ServerEvent};
use crate::pixmess::limits::TEXT_MAX;

impl Server {
    /// Passes on what a player said, or does what it commands.
    pub(super) fn handle_chat(&mut self, now: Instant, id: PeerId, text: &[u8]) {
        let Ok(text) = core::str::from_utf8(text) else {
            self.counters.bad_chat += 1;
            return self.note_refusal(id);
        };
        // What would command a terminal is left out.
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        if text.is_empty() {
            return;
        }
        let Some(peer) = self.peers.state(id) else {
            return;
        };
        if peer.rates.chats.take(now).is_none() {
            self.counters.too_many_chats += 1;
            return self.note_refusal(id);
        }
        let Some(guest) = &peer.guest else {
            return;
        };
        let (player, shown) = (guest.player, format!("<{}> {text}", guest.name));
        if let Some(command) = text.strip_prefix('/') {
            for line in self.obey(command) {
                self.tell_line(id, &line);
            }
            return;
        }
        self.say(&shorten(shown));
        // Whoever speaks hears itself in the order of its other answers.
        self.tell_lines(id);
        self.events.push_back(ServerEvent::Chatted { player, text });
    }

    /// What a command answers.
    fn obey(&self, command: &str) -> Vec<String> {
        match command.split_whitespace().next() {
            Some("who") => self.who(),
            Some("help") => Vec::from(["* /who lists the players, /help shows this".to_string()]),
            _ => Vec::from([shorten(format!("* Unknown command /{command}, try /help"))]),
        }
    }

    /// The players, in as many lines as it takes.
    fn who(&self) -> Vec<String> {
        let count = self.players().count();
        let mut lines = Vec::new();
        let mut line = format!("* {count} here:");
        for (_, name) in self.players() {
            if line.len() + 1 + name.len() > TEXT_MAX {
                lines.push(core::mem::replace(&mut line, "*".into()));
            }
            line.push(' ');
            line.push_str(name);
        }
        lines.push(line);
        lines
    }
}

/// Cuts a line at a character border to what a packet holds.
fn shorten(mut line: String) -> String {
    line.truncate(line.floor_char_boundary(TEXT_MAX));
    line
}
