//! What there is to load besides the world, and what players bring along.
//!
//! The server offers the rules, the names of the planets and the palette, which is the characters that can
//! be an emblem. A player may send up an emblem, one character of the palette, which others then fetch as the
//! asset `emblems/` and its actor. In: what the client heard. Out: what to fetch next, one at a time, and how
//! far that is.

use std::collections::{BTreeMap, VecDeque};

use tickwire_dialects::cppevy::{Client, ClientEvent, Phase, SyncId};
use tickwire_session::Instant;
use tickwire_session::bulk::Manifest;

use crate::gateway::Notice;

/// What the server offers to everybody.
pub(super) const ASSETS: [(&str, &[u8]); 3] = [
    (NAMES, include_bytes!("names.txt")),
    (PALETTE, include_bytes!("palette.txt")),
    (RULES, include_bytes!("rules.txt")),
];

const NAMES: &str = "names";
const PALETTE: &str = "palette";
const RULES: &str = "rules";

/// What a player may offer.
pub(super) const EMBLEM: &str = "emblem";

/// Its bytes: one character.
pub(super) const EMBLEM_MAX: u32 = 4;

/// The asset that is a player's emblem.
pub(super) fn emblem_asset(actor: SyncId) -> String {
    format!("emblems/{}", actor.number())
}

/// The emblem that these bytes are, if the arena's palette has it.
pub(super) fn emblem(bytes: &[u8]) -> Option<char> {
    let [(_, _), (_, palette), (_, _)] = ASSETS;
    emblem_of(core::str::from_utf8(palette).ok()?, bytes)
}

fn emblem_of(palette: &str, bytes: &[u8]) -> Option<char> {
    let mut characters = core::str::from_utf8(bytes).ok()?.chars();
    let first = characters.next()?;
    let is_one = characters.next().is_none() && palette.contains(first);
    (is_one && first.is_ascii_graphic()).then_some(first)
}

/// What a client has loaded, and loads.
#[derive(Debug, Default)]
pub(super) struct Content {
    stage: Stage,
    /// What is still to be fetched.
    queue: VecDeque<String>,
    /// What this player wants to wear.
    wish: Option<char>,
    names: Vec<String>,
    palette: String,
    emblems: BTreeMap<SyncId, char>,
}

#[derive(Debug, Default, Eq, PartialEq)]
enum Stage {
    /// Nobody asked for it: a bot does without.
    #[default]
    Unwanted,
    /// The list of assets is to be fetched.
    Wanted,
    /// Bytes that are there, and of all; and of the one that is on its way.
    Loading {
        have: u64,
        of: u64,
        part: u64,
    },
    Loaded,
}

impl Content {
    /// Loads everything, and then sends up the emblem.
    pub(super) fn want(&mut self, emblem: Option<char>) {
        self.stage = Stage::Wanted;
        self.wish = emblem;
    }

    /// How much is there, and of how much, until all of it is.
    pub(super) const fn progress(&self) -> Option<(u64, u64)> {
        match self.stage {
            Stage::Unwanted | Stage::Loaded => None,
            Stage::Wanted => Some((0, 1)),
            Stage::Loading { have, of, part } => Some((have + part, of)),
        }
    }

    /// The name of a planet.
    pub(super) fn planet(&self, number: usize) -> Option<&str> {
        self.names.get(number).map(String::as_str)
    }

    pub(super) fn emblem(&self, actor: SyncId) -> Option<char> {
        self.emblems.get(&actor).copied()
    }

    /// Somebody has an emblem. Where nobody looks, it is not fetched.
    pub(super) fn handle_emblem(&mut self, actor: SyncId) {
        let name = emblem_asset(actor);
        // A server has as many as it has actors.
        if self.stage != Stage::Unwanted && !self.queue.contains(&name) {
            self.queue.push_back(name);
        }
    }

    pub(super) fn forget(&mut self, actor: SyncId) {
        self.emblems.remove(&actor);
    }

    /// Takes what the client tells of assets.
    pub(super) fn handle(&mut self, event: ClientEvent, notices: &mut Vec<Notice>) {
        let mut say = |text| notices.push(Notice::Answered { text });
        match event {
            ClientEvent::AssetProgress { received, .. } => {
                if let Stage::Loading { part, .. } = &mut self.stage {
                    *part = received.into();
                }
            }
            ClientEvent::AssetFetched { name, bytes } => self.take(&name, &bytes, say),
            ClientEvent::AssetFailed { name, why } => {
                self.end_part(0);
                if self.stage == Stage::Wanted {
                    self.stage = Stage::Loaded;
                }
                say(format!("{name} was not loaded: {why}"));
            }
            ClientEvent::Uploaded { name } => say(format!("others see your {name}")),
            ClientEvent::UploadFailed { name, why } => {
                say(format!("nobody sees your {name}: {why}"))
            }
            _ => {}
        }
    }

    fn take(&mut self, name: &str, bytes: &[u8], mut say: impl FnMut(String)) {
        match name {
            "index" => return self.plan(bytes),
            RULES => {
                let text = String::from_utf8_lossy(bytes);
                text.lines().for_each(|line| say(line.to_owned()));
            }
            NAMES => {
                let text = String::from_utf8_lossy(bytes);
                self.names = text.lines().map(crate::printable).collect();
            }
            PALETTE => self.palette = String::from_utf8_lossy(bytes).into_owned(),
            _ => {
                let number = name.strip_prefix("emblems/").and_then(|it| it.parse().ok());
                let emblem = emblem_of(&self.palette, bytes);
                if let (Some(actor), Some(emblem)) = (number.and_then(SyncId::new), emblem) {
                    self.emblems.insert(actor, emblem);
                }
            }
        }
        self.end_part(bytes.len() as u64);
    }

    /// Fetches those that are listed and known here.
    fn plan(&mut self, index: &[u8]) {
        let listed = Manifest::parse(index).unwrap_or_default().into_listed();
        let mut of = 0;
        for asset in listed {
            if ASSETS.iter().any(|(name, _)| *name == asset.name) {
                of += asset.size;
                self.queue.push_back(asset.name);
            }
        }
        let (have, part) = (0, 0);
        self.stage = Stage::Loading { have, of, part };
    }

    fn end_part(&mut self, size: u64) {
        if let Stage::Loading { have, part, .. } = &mut self.stage {
            *have += size;
            *part = 0;
        }
    }

    /// Asks for what is next, if nothing is on its way.
    pub(super) fn advance(&mut self, now: Instant, client: &mut Client, notices: &mut Vec<Notice>) {
        if self.stage == Stage::Unwanted || client.phase() != Phase::Playing || client.is_fetching()
        {
            return;
        }
        let next = match self.stage {
            Stage::Wanted => Some("index".to_owned()),
            _ => self.queue.pop_front(),
        };
        if let Some(name) = next {
            // What cannot be asked for now is asked for in the next turn.
            if client.fetch(now, &name).is_err() && self.stage != Stage::Wanted {
                self.queue.push_front(name);
            }
        } else if matches!(self.stage, Stage::Loading { .. }) {
            self.stage = Stage::Loaded;
            self.offer_emblem(now, client, notices);
        }
    }

    fn offer_emblem(&mut self, now: Instant, client: &mut Client, notices: &mut Vec<Notice>) {
        let Some(wish) = self.wish.take() else {
            return;
        };
        let bytes = wish.to_string();
        let offered = match emblem_of(&self.palette, bytes.as_bytes()) {
            None => Err(format!("this server has only {}", self.palette)),
            Some(_) => client
                .offer(now, EMBLEM, bytes.as_bytes())
                .map_err(|error| error.to_string()),
        };
        if let Err(why) = offered {
            let text = format!("nobody sees your emblem: {why}");
            notices.push(Notice::Answered { text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emblem_is_one_character_of_the_palette() {
        assert_eq!(emblem(b"#"), Some('#'));
        for bytes in [&b""[..], b"##", b"x", b"\x1b", b"\xff", "é".as_bytes()] {
            assert_eq!(emblem(bytes), None, "{bytes:?}");
        }
        // A palette comes from a server, and its characters go to a terminal.
        assert_eq!(emblem_of("\u{1b}\u{202e}", b"\x1b"), None);
    }

    #[test]
    fn what_a_list_has_besides_is_left_where_it_is() {
        let mut content = Content::default();
        content.want(None);
        let mut notices = Vec::new();
        let list = format!("{0} 5 rules\n{0} 9 trojan\n", "0".repeat(64));
        let fetched = |name: &str, bytes: &[u8]| ClientEvent::AssetFetched {
            name: name.into(),
            bytes: bytes.into(),
        };
        content.handle(fetched("index", list.as_bytes()), &mut notices);
        assert_eq!(content.queue, ["rules"]);
        assert_eq!(content.progress(), Some((0, 5)));
        content.handle(fetched("rules", b"a\nb\x1b\n"), &mut notices);
        assert_eq!(content.progress(), Some((5, 5)));
        let told: Vec<_> = notices.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 2);
        assert!(!told[1].contains('\u{1b}'), "{told:?}");
        // A list that is none has nothing on it.
        content.handle(fetched("index", b"nonsense"), &mut notices);
        assert_eq!(content.progress(), Some((0, 0)));
    }
}
