//! Why a connection has to end, and what it is told.

use tickwire_wire::{DecodeError, display_enum};

use super::ServerCounters;
use crate::pixmess::message::VERSION_MISMATCH;
use crate::pixmess::message::kind::is_server_only;

/// What a client does that ends its connection. Each has a counter, and a text that is its kick.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fault {
    UnknownType,
    ServerOnly,
    NotLoggedIn,
    SecondLogin,
    Version,
    BadName,
    NameTaken,
    Full,
    Busy,
    LoginTimeout,
    PingTimeout,
    TooMuch,
}

impl Fault {
    /// What bytes that do not decode are.
    pub(super) fn of_bytes(error: DecodeError) -> Self {
        match error {
            DecodeError::Forbidden {
                field: "type",
                value,
                ..
            } if u8::try_from(value).is_ok_and(is_server_only) => Self::ServerOnly,
            _ => Self::UnknownType,
        }
    }

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::UnknownType => "Unknown packet type!",
            Self::ServerOnly => "Only servers send that!",
            Self::NotLoggedIn => "Log in first!",
            Self::SecondLogin => "You are logged in already!",
            Self::Version => VERSION_MISMATCH,
            Self::BadName => "Bad name: 1 to 32 bytes of text!",
            Self::NameTaken => "Name is taken!",
            Self::Full => "Server is full!",
            Self::Busy => "Server is busy: try again in a moment!",
            Self::LoginTimeout => "Login timeout!",
            Self::PingTimeout => "Ping timeout!",
            Self::TooMuch => "Too much at once!",
        }
    }

    pub(super) const fn count(self, counters: &mut ServerCounters) {
        *match self {
            Self::UnknownType => &mut counters.unknown_type,
            Self::ServerOnly => &mut counters.server_only,
            Self::NotLoggedIn => &mut counters.not_logged_in,
            Self::SecondLogin => &mut counters.second_login,
            Self::Version => &mut counters.wrong_version,
            Self::BadName => &mut counters.bad_name,
            Self::NameTaken => &mut counters.name_taken,
            Self::Full => &mut counters.full,
            Self::Busy => &mut counters.busy,
            Self::LoginTimeout => &mut counters.login_timeout,
            Self::PingTimeout => &mut counters.ping_timeout,
            Self::TooMuch => &mut counters.too_much,
        } += 1;
    }

    pub(super) const fn departure(self) -> Departure {
        match self {
            Self::PingTimeout => Departure::TimedOut,
            _ => Departure::Violation,
        }
    }
}

/// What everybody is told when the server ends.
pub(super) const SHUT_DOWN: &str = "Server is shutting down!";

display_enum! {
    /// Why a player is gone.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum Departure {
        /// It said so.
        Quit => "left",
        /// Its connection ended.
        Disconnected => "lost its connection",
        /// Nothing was heard of it.
        TimedOut => "timed out",
        /// It did not read what it was sent.
        FellBehind => "fell behind",
        /// It broke the protocol.
        Violation => "broke the protocol",
        /// The game sent it away.
        Kicked => "was sent away",
        /// The server ends.
        ShutDown => "left: the server ends",
    }
}
