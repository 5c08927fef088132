//! What a client tells its application: how far it has come, what happened, what was refused.

use alloc::string::String;
use core::fmt;
use core::time::Duration;

use tickwire_session::bulk::Fetched;
use tickwire_session::counters;
use tickwire_wire::display_enum;

use super::call::{CallFailure, CallReply};
use super::loading::{LoadFault, LoadProgress};
use crate::reone::message::{Ballistics, Parameters, Refusal, Speed};
use crate::reone::{
    CallId, ClientId, CreatureStatus, EventId, ModuleNumber, ObjectId, SnapshotSeq, Vec2,
};

/// How far the client has come (see `STATES.md`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Phase {
    /// The stream is not open yet.
    Connecting,
    /// It is, and the server has not answered Hello.
    Handshaking,
    /// The module is being loaded.
    Loading,
    /// It is loaded, and the server has not said its parameters.
    Initialising,
    /// It has, and no snapshot is whole yet.
    Ready,
    /// There is a world to show.
    Playing,
    /// The connection was lost, and will be dialled again.
    Reconnecting,
    /// Over; nothing is sent any more.
    Ended(EndReason),
}

display_enum! {
    /// Why it is over.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum EndReason: Error {
        /// No server answered.
        Unreachable => "no server answered: check the address and that it runs",
        /// The server refused; [`ClientEvent::Refused`] told in its own words.
        Refused(reason: Refusal) => "the server refused: {}" (reason.name()),
        /// The server ended the stream, and the client is not to come back.
        ServerClosed => "the server ended the connection",
        /// The server fell silent, and the client is not to come back.
        TimedOut => "the server fell silent",
        /// The server's stream did not decode.
        Undecodable => "the server sent what is not the protocol",
        /// The module cannot be loaded.
        Load(fault: LoadFault) => "the module cannot be loaded: {fault}",
        /// This client went.
        Disconnected => "you left",
    }
}

/// What the application is told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The server knows this client. Events of an earlier connection are not known to it.
    Welcomed {
        /// This client's number.
        client: ClientId,
    },
    /// A module is being loaded. What was known of another means nothing any more.
    Loading {
        /// Its number.
        module: ModuleNumber,
        /// What it is called.
        name: String,
    },
    /// A piece of a resource came.
    Progress(LoadProgress),
    /// A resource that the application did not hold is here, and as listed.
    Fetched(Fetched),
    /// A resource is not as listed. The session ends.
    BadResource {
        /// Which.
        name: String,
    },
    /// The server refuses a resource. The module is loaded without it.
    ResourceRefused {
        /// Which.
        name: String,
        /// Why.
        reason: Refusal,
        /// The same in its own words.
        text: String,
    },
    /// Everything is here.
    Loaded,
    /// What the client is, and how snapshots come.
    Initialised(Parameters),
    /// The first snapshot since the module was loaded is whole: there is a world to show.
    Started,
    /// A snapshot is whole.
    Snapshot(Whole),
    /// The resource of a creature is known; from now on it is shown.
    Known {
        /// Which creature.
        id: ObjectId,
        /// What it is made of.
        resref: String,
    },
    /// A shot was fired; see [`Client::shots`](super::Client::shots).
    Shot(Ballistics),
    /// An object begins an animation.
    Animation {
        /// Which object.
        id: ObjectId,
        /// When.
        at: SnapshotSeq,
        /// How; the game's bits.
        flags: u32,
        /// How fast, so that it catches up.
        speed: Speed,
        /// Which animation.
        resref: String,
    },
    /// An effect begins at an object.
    Effect {
        /// Which object.
        id: ObjectId,
        /// When.
        at: SnapshotSeq,
        /// Which effect.
        resref: String,
    },
    /// A call of the application ended.
    CallEnded {
        /// Which.
        id: CallId,
        /// What came of it.
        outcome: Result<CallReply, CallFailure>,
    },
    /// The server had forgotten this client, which shows its token again.
    Interrupted,
    /// The server refuses something.
    Refused {
        /// Why.
        reason: Refusal,
        /// The same in its own words.
        text: String,
    },
    /// The connection was lost, and is dialled again after a pause.
    Reconnecting {
        /// The pause.
        after: Duration,
    },
    /// It is over.
    Ended(EndReason),
}

/// A snapshot is whole: what a prediction is checked against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Whole {
    /// Which snapshot.
    pub sequence: SnapshotSeq,
    /// The server's tick.
    pub tick: u32,
    /// The newest event that it is known to show the outcome of; 0 if there is none.
    pub answered: EventId,
    /// The own creature in it, if there is one.
    pub own: Option<CreatureStatus>,
    /// How that moves, in units a second, if the server tells.
    pub velocity: Option<Vec2>,
    /// Whether it is newer than every other that is whole.
    pub is_newest: bool,
}

display_enum! {
    /// Why an event is not sent.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum SendError: Error {
        /// The server takes no events now.
        NotReady => "the server takes no events now",
        /// The server has not acknowledged those before.
        TooManyWaiting => "the server has not acknowledged the events before",
        /// Its content is longer than an event can carry.
        TooLong => "the event is too long",
    }
}

display_enum! {
    /// Why a call is not made.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum AskError: Error {
        /// There is no connection.
        NotConnected => "there is no connection",
        /// Too many calls are under way.
        TooMany => "too many calls wait for their answers",
        /// Its argument is longer than a call can carry.
        TooLong => "the argument is too long",
    }
}

impl fmt::Display for LoadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Manifest => "its manifest is none",
            Self::TooLarge => "it is too large",
            Self::Base => "it has no base",
            Self::Mismatch => "a resource is not as listed",
            Self::Misplaced => "the pieces of a resource do not fit",
        })
    }
}

counters! {
    /// What a client refused or noticed, by cause.
    pub struct ClientCounters {
        /// Datagrams, and ends of streams, that did not decode.
        undecodable,
        /// Datagrams from somebody else.
        stranger,
        /// Datagrams that came before the client was ready for them.
        not_ready,
        /// Frames that came when they make no sense.
        unexpected,
        /// Parameters of another module than the one that is loaded.
        other_module,
        /// Parameters that were held up: the server has said others since, or the same again.
        parameters_late,
        /// Datagrams of snapshots of a module before.
        earlier_module,
        /// Invalid while snapshots keep coming.
        invalid_doubted,
        /// Datagrams of snapshots that are whole, or too old to be wanted.
        settled,
        /// Datagrams that came twice.
        duplicate,
        /// Datagrams that contradict others of their snapshot.
        contradiction,
        /// Snapshots whose baseline is not here.
        baseline_missing,
        /// Snapshots that change objects, or empty slots and variables, which are not there.
        unknown_object,
        /// Snapshots that name an object, a slot or a variable twice.
        object_twice,
        /// Snapshots with more variables or scopes than a client keeps.
        too_much,
        /// Snapshots that were whole too late to be shown.
        late,
        /// Whole snapshots that differ from one acknowledged.
        performant,
        /// Whole snapshots that differ from the base.
        fallback,
        /// Times that what is held was forgotten, because no snapshot had been whole for long.
        hang,
        /// Commands whose moment was long over.
        command_late,
        /// Acknowledgements of events that were never sent.
        ack_never_sent,
        /// Results that nobody waits for.
        unasked_result,
        /// Pieces of resources that nobody waits for.
        unasked_piece,
        /// Events that a lost connection took along.
        event_lost,
        /// Connections that were lost.
        reconnected,
        /// Events dropped because the application did not take them.
        overrun,
    }
}
