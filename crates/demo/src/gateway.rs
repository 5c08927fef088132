//! Where a game meets a protocol.
//!
//! A gateway maps one of the two games, the arena or the tile world, to one protocol and holds no rule
//! of the game. Its server's half turns what clients want into the game's words and what happened
//! there into the protocol's; its client's half turns those back into what a player sees. Both own a
//! session that somebody else drives.
//!
//! [`PROTOCOLS`] is the only list of protocols there is: what serves, plays, loads and inspects is
//! written once, over this module.

mod cppevy;
mod load;
mod lwar;
pub(crate) mod native;
mod notice;
mod opendrakan;
mod pixmess;
mod reone;

use core::fmt;

use tickwire_session::{Addr, Instant, PeerStats, Session};
use tickwire_wire::{DecodeError, Trace};

use crate::limits::WEAPON_SLOTS;
use crate::tiles::{
    Act, Block, BlockId, Bot, Cell, Direction, Look, Neighbour, Sublayer, Tile, TileView,
};
use crate::{Effect, Intent, Loadout, PilotId, Score, Vec2, View, Worlds};

pub use load::LoadError;
pub use notice::Notice;
pub use reone::Settings as ReoneSettings;

/// Every protocol that the games speak.
pub const PROTOCOLS: &[Protocol] = &[
    native::PROTOCOL,
    lwar::PROTOCOL,
    cppevy::PROTOCOL,
    pixmess::PROTOCOL,
    opendrakan::PROTOCOL,
    reone::PROTOCOL,
];

/// What a savegame holds, a line each. An error says which part of it is at fault.
pub fn describe_save(save: &[u8]) -> Result<Vec<String>, LoadError> {
    opendrakan::save::describe(save)
}

/// A protocol, and how to get its halves.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// The port it uses unless told otherwise.
    pub port: u16,
    /// What its server listens for.
    pub paths: Paths,
    /// Players of it at most, where the protocol itself has such a number.
    pub places: Option<usize>,
    /// Makes a server's half.
    pub serve: fn(opening: &Opening<'_>) -> Box<dyn ServerGateway>,
    /// Makes a client's half; its kind says which game is played.
    pub connect: Connect,
    /// Shows its bytes, field by field.
    pub inspect: Inspect,
}

/// How a protocol's bytes are shown.
#[derive(Clone, Copy, Debug)]
pub struct Inspect {
    /// Shows every field of a datagram, as far as it can be read; if the protocol has any.
    pub datagram: Option<DatagramInspector>,
    /// Begins to read one direction of a stream; if the protocol has any.
    pub stream: Option<fn(from: Side) -> StreamInspector>,
    /// How many of a message's first fields say what it is called, if they have words for their values.
    pub words: usize,
    /// Messages that tell the state of the world.
    pub snapshots: &'static [&'static str],
    /// Fields that count the datagrams of a side, one by one, where it has such a field.
    pub counts: &'static [(Side, &'static str)],
}

/// See [`Inspect::datagram`].
pub type DatagramInspector =
    fn(from: Side, bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError>;

/// Shows the next message of a stream, with which the bytes begin; how long it is.
///
/// [`DecodeError::Truncated`] may mean that the rest of it is still to come: ask again with more bytes.
pub type StreamInspector =
    Box<dyn FnMut(&[u8], &mut dyn Trace) -> Result<usize, DecodeError> + Send>;

impl Protocol {
    /// The protocol of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PROTOCOLS.iter().find(|protocol| protocol.name == name)
    }
}

/// What a server's half is made of.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The moment.
    pub now: Instant,
    /// Keeps its tokens from being guessed.
    pub secret: [u8; 32],
    /// What it leads to.
    pub worlds: &'a Worlds,
    /// What whoever serves has chosen.
    pub settings: &'a Settings,
}

/// What whoever serves may choose: of each protocol that leaves a choice, its own settings.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// reone's.
    pub reone: ReoneSettings,
}

/// How to get a client's half that connects as `name`.
#[derive(Clone, Copy, Debug)]
pub enum Connect {
    /// It flies in the arena.
    Arena(fn(now: Instant, server: Addr, name: &str, loadout: Loadout) -> Box<dyn ArenaClient>),
    /// It walks in the tile world; an error says what is wrong with the name.
    Tiles(TileConnect),
}

/// See [`Connect::Tiles`].
pub type TileConnect =
    fn(now: Instant, server: Addr, name: &str, look: Look) -> Result<Box<dyn TileClient>, String>;

/// What a protocol is carried by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Paths {
    /// UDP alone.
    Datagrams,
    /// TCP alone.
    Streams,
    /// Both, on the same port.
    Both,
}

/// Who sent something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum Side {
    Client,
    Server,
}

/// The server's half: one world, many clients of one protocol.
pub trait ServerGateway {
    /// The session, for whoever drives it.
    fn session(&mut self) -> &mut dyn Session;

    /// The session, for whoever looks at its figures.
    fn figures(&self) -> &dyn Session;

    /// Before a step: what clients did since the last one reaches the world.
    fn collect(&mut self, now: Instant, worlds: &mut Worlds, notices: &mut Vec<Notice>);

    /// After a step: what the world is like now reaches the session.
    fn publish(&mut self, now: Instant, worlds: &Worlds);

    /// Whether this pilot of the arena is one of its clients.
    fn has_pilot(&self, _pilot: PilotId) -> bool {
        false
    }

    /// The server says something to everybody, where the protocol has a way to; elsewhere nobody hears of it.
    fn tell_everybody(&mut self, _text: &str) {}

    /// Tells every client that it is over, in the protocol's own way or, where it has none, in the game's.
    fn shut_down(&mut self, now: Instant) {
        self.session().shut_down(now);
    }

    /// The world as a savegame, if the protocol has any.
    fn save(&self) -> Option<Vec<u8>> {
        None
    }

    /// Takes up a savegame, before the first step. An error says which part of it is at fault.
    fn load(&mut self, _save: &[u8], _worlds: &mut Worlds) -> Result<(), LoadError> {
        Err(LoadError::NoSavegames)
    }
}

/// The client's half, whichever the game: one player.
pub trait ClientGateway: Send {
    /// The session, for whoever drives it.
    fn session(&mut self) -> &mut dyn Session;

    /// The session, for whoever looks at its figures.
    fn figures(&self) -> &dyn Session;

    /// Takes what the session has to tell. To be called after every turn.
    fn collect(&mut self, now: Instant, notices: &mut Vec<Notice>);

    /// How far it has come.
    fn status(&self) -> Status;

    /// How the protocol does, in a few words for the player; nothing, unless it has something to say.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Why it is over, as the server put it or as the client can tell; nothing, if the [`Ending`] says it all.
    fn last_words(&self) -> Option<String> {
        None
    }

    /// What the player is called there, where the protocol has no place for a name of one's own.
    fn given_name(&self) -> Option<&str> {
        None
    }

    /// How far off the own ship was last shown, where it is predicted outside of the session.
    fn prediction_error(&self) -> Option<f32> {
        None
    }

    /// Its own figures: those of its session, and of what is predicted outside of it.
    fn stats(&self) -> Option<PeerStats<'static>> {
        let mut stats = None;
        self.figures()
            .visit_peers(&mut |peer| stats = Some(peer.without_name()));
        let mut stats: PeerStats<'static> = stats?;
        stats.prediction_error = stats.prediction_error.or_else(|| self.prediction_error());
        Some(stats)
    }

    /// Says something to everybody; an error is a sentence for the player.
    fn chat(&mut self, now: Instant, text: &str) -> Result<(), String>;

    /// Leaves, in the protocol's own way.
    fn disconnect(&mut self, now: Instant);
}

/// The client's half of somebody who looks on: a camera.
pub trait Spectator: ClientGateway {
    /// Asks to be told everything anew, so that a recording can be played back from there.
    fn ask_anew(&mut self);
}

/// Whether a protocol has places for people who only look on.
pub fn knows_spectators(protocol: &Protocol) -> bool {
    protocol.name == native::PROTOCOL.name
}

/// Connects somebody who only looks on, if the protocol knows such people.
pub fn watch(protocol: &Protocol, now: Instant, server: Addr) -> Option<Box<dyn Spectator>> {
    knows_spectators(protocol).then(|| native::watch(now, server))
}

/// The client's half of a pilot in the arena.
pub trait ArenaClient: ClientGateway {
    /// The world at this moment, as it should be shown.
    fn view(&mut self, now: Instant) -> View;

    /// The players, in an order that does not jump from one look to the next. Apart from the view,
    /// because a bot, which looks at that many times a second, has no use for names.
    fn scores(&self) -> Vec<Score>;

    /// What the player wants from now on.
    fn act(&mut self, intent: &Intent);

    /// What happened since this was last asked, to be shown for a moment.
    fn take_effects(&mut self) -> Vec<Effect> {
        Vec::new()
    }

    /// Asks to be called otherwise; an error is a sentence for the player.
    fn rename(&mut self, _name: &str) -> Result<(), String> {
        Err("this protocol has no word for it".into())
    }

    /// Chooses what the next ship carries; an error is a sentence for the player.
    fn select(&mut self, _now: Instant, _loadout: Loadout) -> Result<(), String> {
        Err("this protocol has no word for it".into())
    }

    /// Says in which order the player's own program has the game's databases, where a protocol has any. To be
    /// called before the session begins; an error is a sentence for the player.
    fn set_databases(&mut self, _paths: &[String]) -> Result<(), String> {
        Err("this protocol has no databases".into())
    }

    /// What the own ship carries, slot by slot; `None` if the protocol does not tell.
    fn inventory(&self) -> Option<[Option<Carried>; WEAPON_SLOTS]> {
        None
    }

    /// What flashes at the moment that [`view`](Self::view) showed last, if the protocol tells of such things.
    fn flashes(&self) -> Vec<Flash> {
        Vec::new()
    }

    /// Mocks everybody in sight, who may not notice; an error is a sentence for the player.
    fn taunt(&mut self) -> Result<(), String> {
        Err("this protocol has no word for it".into())
    }

    /// Loads what the server has for those who look at a screen, and shows others the player's emblem, if it
    /// wants one; an error is a sentence for the player. To be called before the session begins.
    fn load_content(&mut self, emblem: Option<char>) -> Result<(), String> {
        match emblem {
            Some(_) => Err("this protocol takes no emblems".into()),
            None => Ok(()),
        }
    }

    /// Asks to be somewhere else at once; an error is a sentence for the player.
    fn teleport(&mut self, _now: Instant) -> Result<(), String> {
        Err("this protocol has no word for it".into())
    }
}

/// What lies in a slot of a ship, as a protocol tells it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Carried {
    /// What it is called.
    pub name: String,
    /// How many of it.
    pub count: u16,
}

/// Something that is seen for a moment, where it happens.
#[derive(Clone, Debug, PartialEq)]
pub struct Flash {
    /// Where.
    pub position: Vec2,
    /// What, in a word.
    pub what: String,
}

/// The client's half of a walker in the tile world.
pub trait TileClient: ClientGateway {
    /// Where the player stands, once it is somewhere.
    fn position(&self) -> Option<Cell>;

    /// What one meets at a cell of the ground, trains included; `None` where nothing was seen yet.
    fn tile(&self, cell: Cell) -> Option<Tile>;

    /// The block that is meant by somebody who points at a cell of the ground: the train's, where it
    /// is.
    fn block_at(&self, cell: Cell, sublayer: Sublayer) -> BlockId;

    /// Everybody in sight but the player.
    fn others(&self) -> Vec<Resident<'_>>;

    /// Whether it only watches: its position is where it looks, and nothing else can be done.
    fn is_spectator(&self) -> bool;

    /// Asks which number the player has; the answer is a notice.
    fn identify(&mut self) -> Result<(), String>;

    /// Hears no more of whoever is nearest, until its place is seen anew; who that was.
    fn ignore_nearest(&mut self) -> Result<String, String>;

    /// Takes a step; an error is a sentence for the player.
    fn walk(&mut self, now: Instant, direction: Direction) -> Result<(), String>;

    /// Asks for a block to be another; an error is a sentence for the player.
    fn build(&mut self, now: Instant, at: BlockId, block: Block) -> Result<(), String>;

    /// Does what a bot wants to do, given what the player sees; an error is a sentence for the player.
    fn follow(&mut self, now: Instant, bot: &mut Bot) -> Result<(), String> {
        let Some(position) = self.position() else {
            return Ok(());
        };
        let others: Vec<_> = self
            .others()
            .iter()
            .map(|other| Neighbour {
                name: other.name,
                position: other.position,
            })
            .collect();
        let act = bot.think(&TileView {
            time: now.since(Instant::ZERO),
            position,
            sight: &|cell| self.tile(cell),
            others: &others,
        });
        match act {
            Some(Act::Walk(direction)) => self.walk(now, direction),
            Some(Act::Build { at, block }) => self.build(now, at, block),
            Some(Act::Say(text)) => self.chat(now, &text),
            None => Ok(()),
        }
    }
}

/// Somebody whom a walker sees.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Resident<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What it looks like.
    pub look: Look,
    /// Where it is, on the ground.
    pub position: Cell,
}

/// How far a client has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Status {
    /// On its way in.
    Connecting,
    /// On its way in, and loading what the server has.
    Loading {
        /// Bytes that are here.
        have: u64,
        /// Bytes of all.
        of: u64,
    },
    /// In the world.
    Playing,
    /// Over.
    Ended(Ending),
}

/// Why a client's session is over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Ending {
    /// There was no place.
    Full,
    /// The server did not let the player in, and said so.
    Refused,
    /// Nobody let the player in: nobody is there, or somebody who speaks another protocol.
    Unreachable,
    /// The connection broke, or the server fell silent.
    Lost,
    /// The player left.
    Left,
    /// The server said that it ends, or that the player has to go.
    Removed,
    /// What the server sent cannot be understood, or cannot be played.
    Broken,
}

impl Ending {
    /// A session that broke off without a word. Before the server let the player in, it may have been no
    /// server of this protocol at all.
    const fn broken_off(was_in: bool) -> Self {
        if was_in {
            Self::Lost
        } else {
            Self::Unreachable
        }
    }

    /// Likewise, where it was the server's bytes that made no sense.
    const fn garbled(was_in: bool) -> Self {
        if was_in {
            Self::Broken
        } else {
            Self::Unreachable
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the server is full: try again later",
            Self::Refused => "the server did not let you in",
            Self::Unreachable => {
                "no server of this protocol let you in: check the address and the port, that it runs \
                 and that it is not full"
            }
            Self::Lost => "the server is gone: it crashed, or the network is down",
            Self::Left => "you left",
            Self::Removed => "the server was stopped, or sent you away",
            Self::Broken => {
                "the server sent what makes no sense: it may speak another version of the protocol"
            }
        })
    }
}
