//! What can go wrong with a server or client besides the network, whose doings are events.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use tickwire_net::quic::IdentityError;
use tickwire_net::{BindError, ListenError};

use crate::EndReason;
use crate::rendezvous::NotJoined;

/// Why a server or client cannot go on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The port cannot be had.
    Bind(BindError),
    /// The port cannot be had, or the identity not be used.
    Listen(ListenError),
    /// There is no key, and none can be made.
    Identity(IdentityError),
    /// Something in the clear was to be done on an address that strangers can reach.
    NotPrivate(SocketAddr),
    /// The name stands for no address.
    NoAddress,
    /// The client is no part of the game any more.
    Ended {
        /// Why.
        why: EndReason,
        /// What the server, or the network, says to it.
        words: String,
    },
    /// The game with a code was not joined.
    NotJoined(NotJoined),
    /// The system had another reason.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind(error) => error.fmt(f),
            Self::Listen(error) => error.fmt(f),
            Self::Identity(error) => error.fmt(f),
            Self::NotPrivate(addr) => write!(
                f,
                "{addr} can be reached by strangers, who could read and forge everything: use `bind` and \
                 `connect`, which encrypt, or the `_anywhere` constructors if you mean it"
            ),
            Self::NoAddress => f.write_str("the name stands for no address"),
            Self::Ended { why, words } if words.is_empty() => why.fmt(f),
            Self::Ended { why, words } => write!(f, "{why}: {words}"),
            Self::NotJoined(why) => why.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind(error) => error.source(),
            Self::Listen(error) => error.source(),
            Self::Identity(error) => error.source(),
            Self::NotJoined(_) | Self::NotPrivate(_) | Self::NoAddress | Self::Ended { .. } => None,
            Self::Io(error) => error.source(),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<BindError> for Error {
    fn from(error: BindError) -> Self {
        Self::Bind(error)
    }
}

impl From<ListenError> for Error {
    fn from(error: ListenError) -> Self {
        Self::Listen(error)
    }
}

impl From<IdentityError> for Error {
    fn from(error: IdentityError) -> Self {
        Self::Identity(error)
    }
}
