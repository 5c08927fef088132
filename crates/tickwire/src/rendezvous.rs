//! Playing through routers: a code instead of an address.
//!
//! A *rendezvous server* (`tickwire rendezvous`) is where players find each other.
//! [`Server::host`](crate::Server::host) registers a game there and gets a code of six letters,
//! [`Client::join`](crate::Client::join) finds it by that code. Both look for a path between them, direct or by the
//! rendezvous server's relay; the game goes over whichever is best at the moment and notices nothing. What happens
//! is told by events. See the [guide](crate::guide#through-routers).

use std::collections::VecDeque;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};

pub use tickwire_net::rendezvous::{Offer, PORT, Rendezvous};
pub use tickwire_rendezvous::{Code, MemberEvent, NoCode, PathKind, Refusal, RelayEnd};

use tickwire_net::Driver;
use tickwire_net::quic::Trust;
use tickwire_net::rendezvous::Meeting;

use crate::error::Error;
use crate::place;

/// Events that a game has not taken; beyond that the oldest go.
const EVENTS_MAX: usize = 64;

/// Why a game was not joined.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum NotJoined {
    /// It is no code.
    NoCode,
    /// The rendezvous server does not bring you there.
    Refused(Refusal),
    /// No path to the host was found.
    NoPath,
    /// The rendezvous server did not answer.
    NoAnswer,
}

impl fmt::Display for NotJoined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCode => NoCode.fmt(f),
            Self::Refused(why) => why.fmt(f),
            Self::NoPath => f.write_str("no path to the host was found, not even by a relay"),
            Self::NoAnswer => f.write_str("the rendezvous server did not answer"),
        }
    }
}

/// A meeting, and what is known of it.
#[derive(Debug)]
pub(crate) struct Met {
    pub(crate) meeting: Meeting,
    pub(crate) events: VecDeque<MemberEvent>,
    pub(crate) code: Option<Code>,
    pub(crate) path: Option<(PathKind, SocketAddr)>,
}

impl Met {
    pub(crate) const fn new(meeting: Meeting) -> Self {
        Self {
            meeting,
            events: VecDeque::new(),
            code: None,
            path: None,
        }
    }

    /// After every turn.
    pub(crate) fn poll(&mut self, driver: &mut Driver) -> Result<(), Error> {
        while let Some(event) = self.meeting.poll(driver)? {
            match event {
                MemberEvent::Registered { code } => self.code = Some(code),
                MemberEvent::Path { kind, to } => self.path = Some((kind, to)),
                MemberEvent::PathLost { .. } => self.path = None,
                _ => {}
            }
            if self.events.len() == EVENTS_MAX {
                self.events.pop_front();
            }
            self.events.push_back(event);
        }
        Ok(())
    }
}

/// The rendezvous server at an address: on this machine whichever it is, elsewhere the one that was there the first
/// time.
pub(crate) fn rendezvous_at(addr: impl ToSocketAddrs) -> Result<Rendezvous, Error> {
    let server = place::resolve(addr)?;
    let trust = if server.ip().is_loopback() {
        Trust::ThisMachine
    } else {
        Trust::FirstUse {
            known_hosts: place::state_folder()?.join("known_hosts"),
            host: server.to_string(),
        }
    };
    Ok(Rendezvous { server, trust })
}
