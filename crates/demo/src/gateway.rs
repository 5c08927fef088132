//! Where the arena meets a protocol.
//!
//! A gateway maps the game to one protocol and holds no rule of the game. Its server's half turns
//! what clients want into intents and what the arena did into the protocol's words; its client's half
//! turns those words back into a [`View`]. Both own a session that somebody else drives.
//!
//! [`PROTOCOLS`] is the only list of protocols there is: what serves, plays, loads and inspects is
//! written once, over this module.

mod cppevy;
mod lwar;
mod notice;

use core::fmt;

use tickwire_session::{Addr, Instant, Session};
use tickwire_wire::{DecodeError, Trace};

use crate::{Arena, Intent, Loadout, View};

pub use notice::Notice;

/// Every protocol that the arena speaks.
pub const PROTOCOLS: &[Protocol] = &[lwar::PROTOCOL, cppevy::PROTOCOL];

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
    /// Makes a server's half. The secret keeps its tokens from being guessed.
    pub serve: fn(now: Instant, secret: [u8; 32]) -> Box<dyn ServerGateway>,
    /// Makes a client's half that connects as `name`.
    pub connect:
        fn(now: Instant, server: Addr, name: &str, loadout: Loadout) -> Box<dyn ClientGateway>,
    /// Shows every field of a datagram as far as it can be read.
    pub inspect: fn(from: Side, bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError>,
}

impl Protocol {
    /// The protocol of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PROTOCOLS.iter().find(|protocol| protocol.name == name)
    }
}

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

/// The server's half: one arena, many clients of one protocol.
pub trait ServerGateway {
    /// The session, for whoever drives it.
    fn session(&mut self) -> &mut dyn Session;

    /// The session, for whoever looks at its figures.
    fn figures(&self) -> &dyn Session;

    /// Before a step: what clients did since the last one reaches the arena.
    fn collect(&mut self, now: Instant, arena: &mut Arena, notices: &mut Vec<Notice>);

    /// After a step: what the arena is like now reaches the session.
    fn publish(&mut self, now: Instant, arena: &Arena);

    /// Tells every client that the server ends.
    fn shut_down(&mut self, now: Instant);

    /// Whether, after [`shut_down`](Self::shut_down), every client was told.
    fn is_finished(&self) -> bool;
}

/// The client's half: one player.
pub trait ClientGateway {
    /// The session, for whoever drives it.
    fn session(&mut self) -> &mut dyn Session;

    /// The session, for whoever looks at its figures.
    fn figures(&self) -> &dyn Session;

    /// Takes what the session has to tell. To be called after every turn.
    fn collect(&mut self, now: Instant, notices: &mut Vec<Notice>);

    /// How far it has come.
    fn status(&self) -> Status;

    /// The world at this moment, as it should be shown.
    fn view(&mut self, now: Instant) -> View;

    /// How long ago the newest state of the world arrived.
    fn update_age(&self, now: Instant) -> Option<core::time::Duration>;

    /// What the player wants from now on.
    fn act(&mut self, intent: &Intent);

    /// Says something to everybody; an error is a sentence for the player.
    fn chat(&mut self, now: Instant, text: &str) -> Result<(), String>;

    /// Leaves, in the protocol's own way.
    fn disconnect(&mut self, now: Instant);
}

/// How far a client has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Status {
    /// On its way in.
    Connecting,
    /// In the arena.
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
    /// Nobody answered.
    Unreachable,
    /// The server fell silent.
    TimedOut,
    /// The player left.
    Left,
    /// The server removed the player, or ended.
    Removed,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the server is full: try again later",
            Self::Unreachable => "no server answered: check the address, and that it runs",
            Self::TimedOut => "the server fell silent: it may have crashed, or the network is down",
            Self::Left => "you left",
            Self::Removed => "the server removed you, or was stopped",
        })
    }
}
