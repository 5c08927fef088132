//! A recording, played back.
//!
//! In: its records, one after the other. Out: what the player saw, and whether it is what was seen then. Reading
//! files, and deciding how far to go, is the caller's.

use tickwire_session::tap::{About, Record, Recorded};
use tickwire_session::{Instant, Session, Transmit};
use tickwire_wire::DecodeError;

use super::deed::{Deed, sum_of_sight, sum_of_view};
use super::peer::Peer;
use super::{Player, Start};
use crate::gateway::{ClientGateway, Notice, Status, TileClient};
use crate::{Score, View};

/// What happened that is kept until somebody asks, at most.
const NOTICES_KEPT: usize = 64;

/// A recording that is played back.
#[derive(Debug)]
pub struct Replay {
    start: Start,
    player: Player,
    /// If it is a server's: the client for whom it is played back.
    peer: Option<Peer>,
    view: View,
    notices: Vec<Notice>,
    compared: Compared,
}

/// What playing back came to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Compared {
    /// How often the player looked.
    pub looks: u64,
    /// How often it saw something else than it did then.
    pub other: u64,
    /// How often it would have sent something else.
    pub sent_other: u64,
}

impl Replay {
    /// Begins. Nothing, if the recording's protocol is not known.
    pub fn new(now: Instant, about: &About<'_>) -> Result<Option<Self>, DecodeError> {
        let Some(start) = Start::read(now, about)? else {
            return Ok(None);
        };
        let Ok(player) = start.connect() else {
            return Ok(None);
        };
        let peer = match about.side {
            Recorded::Client => None,
            Recorded::Server => Some(Peer::new(about.peer, start.server)),
        };
        Ok(Some(Self {
            start,
            player,
            peer,
            view: View::default(),
            notices: Vec::new(),
            compared: Compared::default(),
        }))
    }

    /// What the player was made of.
    pub const fn start(&self) -> &Start {
        &self.start
    }

    /// Whether a player looks when the recording says so. If not, [`look`](Self::look) does.
    pub const fn looks_by_itself(&self) -> bool {
        self.peer.is_none()
    }

    /// Goes on by one record. An error says what is wrong with it; nothing changed then.
    pub fn apply(&mut self, now: Instant, record: &Record<'_>) -> Result<(), DecodeError> {
        if let Some(peer) = &mut self.peer {
            peer.apply(now, record, self.player.gateway_mut().session());
            // A client answers what it is told on its stream at once: a level that is loaded later than it was
            // would miss the snapshot that all others build on.
            if matches!(record, Record::Output(Transmit::Stream { .. }, _)) {
                self.collect(now);
            }
            return Ok(());
        }
        match *record {
            Record::Input(input) => input.apply_to(self.session(), now),
            Record::Output(transmit, bytes) => {
                let mut said = Vec::new();
                let again = self.session().poll_transmit(now, &mut said);
                if again != Some(transmit) || said != bytes {
                    self.compared.sent_other += 1;
                }
            }
            Record::Game(words) => self.act(now, Deed::decode(words)?),
            Record::About(_) | Record::Mark | Record::Index(_) | Record::End { .. } => {}
        }
        Ok(())
    }

    /// The same for whoever skips to a moment at which everything is told anew: only what must arrive counts.
    pub fn skip(&mut self, now: Instant, record: &Record<'_>) -> Result<(), DecodeError> {
        match Peer::is_datagram(record) && self.peer.is_some() {
            true => Ok(()),
            false => self.apply(now, record),
        }
    }

    /// Looks at what there is, if the recording does not say when.
    pub fn look(&mut self, now: Instant) {
        self.collect(now);
        if let Player::Arena(client) = &mut self.player {
            self.view = client.view(now);
        }
    }

    /// What was seen last, in the arena.
    pub const fn view(&self) -> &View {
        &self.view
    }

    /// The client, for what can be asked without changing it.
    pub fn client(&self) -> &dyn ClientGateway {
        self.player.gateway()
    }

    /// The walker, if it is one.
    pub fn tiles(&self) -> Option<&dyn TileClient> {
        match &self.player {
            Player::Arena(_) => None,
            Player::Tiles(client) => Some(&**client),
        }
    }

    /// The scoreboard.
    pub fn scores(&self) -> Vec<Score> {
        match &self.player {
            Player::Arena(client) => client.scores(),
            Player::Tiles(_) => Vec::new(),
        }
    }

    /// What happened since the last call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// What it came to so far.
    pub const fn compared(&self) -> Compared {
        self.compared
    }

    fn session(&mut self) -> &mut dyn Session {
        self.player.gateway_mut().session()
    }

    fn collect(&mut self, now: Instant) {
        self.player.gateway_mut().collect(now, &mut self.notices);
        let surplus = self.notices.len().saturating_sub(NOTICES_KEPT);
        self.notices.drain(..surplus);
    }

    fn compare(&mut self, is_same: bool) {
        self.compared.looks += 1;
        self.compared.other += u64::from(!is_same);
    }

    /// Does what the player did. What was refused then is refused again.
    fn act(&mut self, now: Instant, deed: Deed) {
        match (deed, &mut self.player) {
            (Deed::Collect, _) => self.collect(now),
            (Deed::Chat(text), player) => drop(player.gateway_mut().chat(now, &text)),
            (Deed::Disconnect, player) => player.gateway_mut().disconnect(now),
            (Deed::View { sum }, Player::Arena(client)) => {
                self.view = client.view(now);
                let is_same = sum_of_view(&self.view) == sum;
                self.compare(is_same);
            }
            (Deed::Act(intent), Player::Arena(client)) => client.act(&intent),
            (Deed::Rename(name), Player::Arena(client)) => drop(client.rename(&name)),
            (Deed::Select(loadout), Player::Arena(client)) => drop(client.select(now, loadout)),
            (Deed::Databases(paths), Player::Arena(client)) => {
                let paths: Vec<_> = paths.split(',').map(String::from).collect();
                drop(client.set_databases(&paths));
            }
            (Deed::Content(emblem), Player::Arena(client)) => drop(client.load_content(emblem)),
            (Deed::Identify, Player::Tiles(client)) => drop(client.identify()),
            (Deed::IgnoreNearest, Player::Tiles(client)) => drop(client.ignore_nearest()),
            (Deed::Teleport, Player::Arena(client)) => drop(client.teleport(now)),
            (Deed::Taunt, Player::Arena(client)) => drop(client.taunt()),
            (Deed::Sight { sum }, Player::Tiles(client)) => {
                let is_same = sum_of_sight(&**client) == sum;
                self.compare(is_same);
            }
            (Deed::Walk(direction), Player::Tiles(client)) => drop(client.walk(now, direction)),
            (Deed::Build { at, block }, Player::Tiles(client)) => {
                drop(client.build(now, at, block));
            }
            // A deed of the other game, in a file that somebody made up.
            _ => {}
        }
    }

    /// Whether the session has come to its end.
    pub fn is_over(&self) -> bool {
        matches!(self.client().status(), Status::Ended(_))
    }
}
