//! What a client tells its application: how far it has come, what happened, what was refused.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::counters;
use tickwire_state::Tick;
use tickwire_wire::display_enum;

use crate::opendrakan::{AssetRef, DatabaseId, ObjectId};

/// How far the client has come (see `STATES.md`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Phase {
    /// The stream is not open yet.
    Connecting,
    /// It is, and the server has not said everything there is to load.
    Handshaking,
    /// The application loads.
    Loading,
    /// Everything is loaded, and no snapshot is complete yet.
    Waiting,
    /// There is a world to show.
    Playing,
    /// Over; nothing is sent any more.
    Ended(EndReason),
}

display_enum! {
    /// Why it is over.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum EndReason {
        /// No server answered.
        Unreachable => "no server answered: check the address and that it runs",
        /// The server ended the stream.
        ServerClosed => "the server ended the connection",
        /// The server fell silent.
        TimedOut => "the server fell silent",
        /// The server's stream did not decode.
        Undecodable => "the server sent what is not the protocol",
        /// The server uses more databases than a client accepts.
        TooManyDatabases => "the server uses too many databases",
        /// This client went.
        Disconnected => "you left",
    }
}

/// What the application is told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The stream is open.
    Connected,
    /// Load this, then call [`Client::loaded`](super::Client::loaded).
    Load {
        /// The level's file, relative to the engine's root.
        level: String,
        /// The files of the databases, likewise, by the server's numbers.
        databases: Vec<(DatabaseId, String)>,
    },
    /// The first snapshot is complete: there is a world to show.
    Started,
    /// A snapshot is complete.
    Completed {
        /// Which.
        tick: Tick,
    },
    /// The game says something. It comes when it arrives, whatever moment is shown.
    GlobalMessage {
        /// What it is about.
        channel: u32,
        /// When it was sent, on the server's clock.
        at: Duration,
        /// What it says.
        body: Vec<u8>,
    },
    /// One object says something to another. It comes when it arrives.
    ObjectMessage {
        /// What it is about.
        channel: u32,
        /// Who says it.
        sender: ObjectId,
        /// To whom.
        receiver: ObjectId,
        /// When it was sent, on the server's clock.
        at: Duration,
        /// What it says.
        body: Vec<u8>,
    },
    /// An animation begins: its moment is shown now, or was already.
    Animation {
        /// Its moment, on the server's clock.
        at: Duration,
        /// Which object moves.
        object: ObjectId,
        /// How; the database is the application's number.
        animation: AssetRef,
        /// On which of the object's channels.
        channel: i32,
        /// 1 for the animation's own speed.
        speed: f32,
    },
    /// A sound begins: its moment is shown now, or was already.
    Sound {
        /// Its moment, on the server's clock.
        at: Duration,
        /// Which; the database is the application's number.
        sound: AssetRef,
    },
    /// It is over.
    Ended(EndReason),
}

display_enum! {
    /// Why an action cannot be sent.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum ActError: Error {
        /// There is no connection yet, or no more.
        NotConnected => "there is no connection",
        /// The server has not read what was sent before.
        TooMuchWaiting => "the server has not read what was sent before",
        /// A stick's place must be made of numbers.
        NotFinite => "a stick's place must be finite",
    }
}

counters! {
    /// What a client refused or noticed, by cause.
    pub struct ClientCounters {
        /// Datagrams, and ends of streams, that did not decode.
        undecodable,
        /// Datagrams from somebody else.
        stranger,
        /// Datagrams, animations and sounds that came before everything was loaded.
        not_loaded,
        /// Databases and levels that came when all of them were known.
        unexpected,
        /// Snapshots whose reference is not here.
        reference_missing,
        /// Snapshots with more changes than were confirmed.
        count_mismatch,
        /// Snapshots that create objects which their reference has.
        created_twice,
        /// Snapshots that change objects which their reference does not have.
        unknown_object,
        /// Extra states that are not as their class says.
        bad_bundle,
        /// Changes, and snapshots, for which there was no room.
        no_room,
        /// Snapshots that were complete too late to be shown.
        late,
        /// Animations and sounds of databases that are not in the table.
        unknown_database,
        /// Animations and sounds shown before their moment, because too many waited.
        released_early,
        /// Events dropped because the application did not take them.
        overrun,
    }
}
