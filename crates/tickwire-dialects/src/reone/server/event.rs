//! What a server tells its game, and what it refused.

use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::{Addr, counters};
use tickwire_wire::display_enum;

use crate::reone::message::{Answer, Status};
use crate::reone::{CallId, ClientId, EventId, ObjectId};

/// What the game is told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A client said hello, and loads the module.
    Connected {
        /// Who.
        client: ClientId,
        /// What it calls itself.
        name: String,
        /// Where its stream comes from.
        addr: Addr,
    },
    /// A client has loaded, and wants to take part. It waits for [`admit`](super::Server::admit).
    Joining {
        /// Who.
        client: ClientId,
    },
    /// A client knows what it needs, and is sent snapshots from now on.
    Ready {
        /// Who.
        client: ClientId,
    },
    /// A player did something.
    Event {
        /// Who.
        client: ClientId,
        /// Which event: in order, each once; [`EventId::UNACKNOWLEDGED`] as it came. Tell the server
        /// what you have [`processed`](super::Server::processed).
        id: EventId,
        /// What kind of event.
        kind: u8,
        /// What about it.
        content: Vec<u8>,
        /// What the player saw.
        seen: ShownAt,
    },
    /// A client asks something. It waits for [`answer`](super::Server::answer).
    Called {
        /// Who.
        client: ClientId,
        /// What the answer is known by.
        call: CallId,
        /// What.
        question: Question,
    },
    /// Nothing was heard of a client for too long: its player is to be taken out of the game. It may
    /// come back with [`Joining`](Self::Joining).
    Removed {
        /// Who.
        client: ClientId,
    },
    /// A client is gone for good.
    Left {
        /// Who.
        client: ClientId,
        /// Why.
        why: Departure,
    },
}

/// What a player saw when it did something, by the client's account: a game that goes by it has to bound
/// what it believes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ShownAt {
    /// The tick that was shown when the last event of the packet was made; 0 is none.
    pub tick: u32,
    /// How many events before that one this is, by their order in the packet: they come again because they
    /// were lost or held up, and each saw an earlier tick. Never more than fit a packet, and 0 for an event
    /// without a number.
    pub before: u32,
}

/// What a client asks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Question {
    /// Which resource an object is made of.
    Resref(ObjectId),
    /// What an object carries.
    Inventory(ObjectId),
    /// A variable of the game.
    Global(String),
    /// A variable of the client's own creature.
    Local(String),
    /// Nothing: a line for the log.
    Log(String),
    /// One of the game's own methods.
    Other {
        /// Its name.
        method: String,
        /// As it came.
        argument: Vec<u8>,
    },
}

/// What a client is answered.
#[derive(Clone, Copy, Debug)]
pub enum Reply<'a> {
    /// This.
    Answer(Answer<'a>),
    /// This, to one of the game's own methods.
    Bytes(&'a [u8]),
    /// That it does not work.
    Failed(Status),
}

display_enum! {
    /// Why a client is gone.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum Departure {
        /// It ended its stream.
        Disconnected => "left",
        /// Its stream did not decode, or said what makes no sense there.
        Undecodable => "sent what is not the protocol",
        /// It did not read what it asked for, or did not come on with loading.
        FellBehind => "fell behind",
        /// It was silent for so long that its place went to somebody else.
        Replaced => "fell silent, and the place was needed",
        /// The game sent it away.
        Kicked => "was sent away",
        /// The server ends.
        ShutDown => "left: the server ends",
    }
}

display_enum! {
    /// Why an answer was not taken.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum AnswerError: Error {
        /// Nobody waits for it: it was answered before, or the client is gone.
        Unasked => "nobody waits for this answer",
        /// It is too long.
        TooLong => "the answer is too long",
    }
}

counters! {
    /// What a server refused, noticed and did, by cause.
    pub struct ServerCounters {
        /// Datagrams above the largest accepted.
        oversized,
        /// Datagrams that did not decode.
        undecodable_datagram,
        /// Streams that did not decode, or said what makes no sense there.
        undecodable_stream,
        /// Datagrams from addresses that belong to nobody.
        stranger,
        /// Strangers that were not answered because too many waited for an answer.
        stranger_ignored,
        /// Tokens that nobody holds.
        wrong_token,
        /// Tokens of clients on another host.
        foreign_host,
        /// Tokens shown by an address that belongs to another client.
        foreign_token,
        /// Wrong tokens that were not answered because their host had shown too many.
        token_ignored,
        /// Acknowledgements of snapshots that were never sent.
        ack_never_sent,
        /// Events and acknowledgements of clients that are not ready.
        not_ready,
        /// Events that came before one that is missing.
        event_out_of_order,
        /// Events that the game has no time for.
        event_overrun,
        /// Clients refused because there was no place for another.
        full,
        /// Clients refused because too many joined at a time, or the game was too slow.
        not_admitted,
        /// Connections without a Hello that gave way to newer ones.
        crowded_out,
        /// Connections that said no Hello in time.
        no_hello,
        /// Resources asked for that do not exist, or from beyond their end.
        fetch_refused,
        /// Calls of methods that do not exist.
        call_unknown,
        /// Calls with arguments that make no sense.
        call_bad_argument,
        /// Calls above what may wait.
        call_refused,
        /// Answers that were not sent because the client had too many bytes of them.
        answer_refused,
        /// Clients that did not come on with loading.
        loading_stuck,
        /// Clients cut off because they did not read.
        fell_behind,
        /// Commands that were dropped because too many waited.
        command_overrun,
        /// Objects that were published twice at a time, or for which there was no place.
        object_refused,
        /// Snapshots that were not sent because the client's path carries too little.
        path_too_narrow,
        /// Snapshots sent as the difference to one that the client has.
        performant,
        /// Snapshots sent as the difference to the base.
        fallback,
        /// How often a client went from one of these modes to the other.
        mode_changes,
        /// Snapshots that did not hold everything that changed, for want of budget.
        rationed,
    }
}
