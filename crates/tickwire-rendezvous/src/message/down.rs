//! From the server to a member.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use tickwire_wire::DecodeError;

use super::{
    Candidate, Reader, read_array, read_candidates, read_text, write_candidates, write_frame,
    write_text,
};
use crate::code::{Code, Fingerprint, Secret};
use crate::limits::{LISTED_MAX, NAME_MAX, PROTOCOL_MAX};
use crate::probe::Key;

/// A public session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Listing {
    /// How it is joined.
    pub code: Code,
    /// What is spoken there.
    pub protocol: String,
    /// What people call it.
    pub name: String,
    /// How many play.
    pub players: u16,
}

/// Why the server does not do what a member asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// No session has this code.
    NoSession,
    /// Too many wrong codes came from that address.
    TooManyTries,
    /// There is no place left, on the server or for that address.
    Full,
    /// Too many requests.
    TooFast,
    /// The server relays nothing, or no more.
    NoRelay,
    /// The server is ending.
    Ending,
}

/// Why a relay ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RelayEnd {
    /// A member gave it back, or left.
    Released,
    /// Nothing was carried for a while.
    Idle,
    /// It carried as much as one may.
    Spent,
}

/// What the server says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Down {
    /// To a host: your session has this code.
    Registered {
        /// What to tell your friends.
        code: Code,
        /// What proves that it is yours, if the connection breaks.
        secret: Secret,
    },
    /// What was asked for is not done.
    Refused {
        /// Why.
        why: Refusal,
        /// The pairing that it is about; 0 if none.
        pairing: u32,
    },
    /// To a host: somebody wants to join; send probes now.
    Knock {
        /// What the two are called from now on.
        pairing: u32,
        /// What both sign with.
        key: Key,
        /// Where the joiner may be.
        candidates: Vec<Candidate>,
    },
    /// To a joiner: this is the session; send probes now.
    Admitted {
        /// What the two are called from now on.
        pairing: u32,
        /// What both sign with.
        key: Key,
        /// Where the host may be.
        candidates: Vec<Candidate>,
        /// What the host will show.
        fingerprint: Fingerprint,
        /// What is spoken there.
        protocol: String,
        /// What people call the session.
        name: String,
    },
    /// To both: there is a relay, on this port of the server.
    Relayed {
        /// For whom.
        pairing: u32,
        /// Where.
        port: u16,
    },
    /// To both: the relay ended.
    RelayEnded {
        /// Whose.
        pairing: u32,
        /// Why.
        why: RelayEnd,
    },
    /// The public sessions, or the first of them.
    Listed(Vec<Listing>),
    /// Still here.
    Alive,
    /// To either: the other member has learned more of its own addresses.
    Candidates {
        /// Of which pairing.
        pairing: u32,
        /// Where the other member may be.
        candidates: Vec<Candidate>,
    },
}

impl Down {
    /// Reads a frame.
    pub fn decode(frame: &[u8]) -> Result<Self, DecodeError> {
        Reader::read_all(frame, |r| {
            Ok(match r.u8("kind")? {
                1 => Self::Registered {
                    code: Code::read(r)?,
                    secret: read_array(r, "secret")?,
                },
                2 => Self::Refused {
                    why: Refusal::read(r)?,
                    pairing: r.u32("pairing")?,
                },
                3 => Self::Knock {
                    pairing: r.u32("pairing")?,
                    key: read_array(r, "key")?,
                    candidates: read_candidates(r)?,
                },
                4 => Self::Admitted {
                    pairing: r.u32("pairing")?,
                    key: read_array(r, "key")?,
                    candidates: read_candidates(r)?,
                    fingerprint: read_array(r, "fingerprint")?,
                    protocol: read_text(r, "protocol", PROTOCOL_MAX)?,
                    name: read_text(r, "name", NAME_MAX)?,
                },
                5 => Self::Relayed {
                    pairing: r.u32("pairing")?,
                    port: r.u16("port")?,
                },
                6 => Self::RelayEnded {
                    pairing: r.u32("pairing")?,
                    why: RelayEnd::read(r)?,
                },
                7 => Self::Listed(read_listings(r)?),
                8 => Self::Alive,
                9 => Self::Candidates {
                    pairing: r.u32("pairing")?,
                    candidates: read_candidates(r)?,
                },
                other => return Err(r.refuse("kind", other.into())),
            })
        })
    }

    /// Appends the frame, with its length.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Registered { code, secret } => write_frame(out, 1, |w| {
                code.write(w);
                w.bytes(secret);
            }),
            Self::Refused { why, pairing } => write_frame(out, 2, |w| {
                w.u8(why.number());
                w.u32(*pairing);
            }),
            Self::Knock {
                pairing,
                key,
                candidates,
            } => write_frame(out, 3, |w| {
                w.u32(*pairing);
                w.bytes(key);
                write_candidates(w, candidates);
            }),
            Self::Admitted {
                pairing,
                key,
                candidates,
                fingerprint,
                protocol,
                name,
            } => write_frame(out, 4, |w| {
                w.u32(*pairing);
                w.bytes(key);
                write_candidates(w, candidates);
                w.bytes(fingerprint);
                write_text(w, protocol, PROTOCOL_MAX);
                write_text(w, name, NAME_MAX);
            }),
            Self::Relayed { pairing, port } => write_frame(out, 5, |w| {
                w.u32(*pairing);
                w.u16(*port);
            }),
            Self::RelayEnded { pairing, why } => write_frame(out, 6, |w| {
                w.u32(*pairing);
                w.u8(why.number());
            }),
            Self::Listed(listings) => write_frame(out, 7, |w| {
                let listings = listings.get(..LISTED_MAX).unwrap_or(listings);
                w.u8(u8::try_from(listings.len()).unwrap_or_default());
                for listing in listings {
                    listing.code.write(w);
                    write_text(w, &listing.protocol, PROTOCOL_MAX);
                    write_text(w, &listing.name, NAME_MAX);
                    w.u16(listing.players);
                }
            }),
            Self::Alive => write_frame(out, 8, |_| ()),
            Self::Candidates {
                pairing,
                candidates,
            } => write_frame(out, 9, |w| {
                w.u32(*pairing);
                write_candidates(w, candidates);
            }),
        }
    }
}

fn read_listings(r: &mut Reader<'_>) -> Result<Vec<Listing>, DecodeError> {
    let count = r.u8("sessions")?;
    r.limit("sessions", count.into(), LISTED_MAX as u64)?;
    (0..count)
        .map(|_| {
            Ok(Listing {
                code: Code::read(r)?,
                protocol: read_text(r, "protocol", PROTOCOL_MAX)?,
                name: read_text(r, "name", NAME_MAX)?,
                players: r.u16("players")?,
            })
        })
        .collect()
}

impl Refusal {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match r.u8("why")? {
            1 => Self::NoSession,
            2 => Self::TooManyTries,
            3 => Self::Full,
            4 => Self::TooFast,
            5 => Self::NoRelay,
            6 => Self::Ending,
            other => return Err(r.refuse("why", other.into())),
        })
    }

    const fn number(self) -> u8 {
        match self {
            Self::NoSession => 1,
            Self::TooManyTries => 2,
            Self::Full => 3,
            Self::TooFast => 4,
            Self::NoRelay => 5,
            Self::Ending => 6,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSession => "no session has this code: it may have ended, or a letter is wrong",
            Self::TooManyTries => "too many wrong codes came from this address: wait a minute",
            Self::Full => "the rendezvous server has no place left for this address",
            Self::TooFast => "the rendezvous server got too many requests from here",
            Self::NoRelay => "the rendezvous server relays nothing at the moment",
            Self::Ending => "the rendezvous server is being stopped",
        })
    }
}

impl RelayEnd {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match r.u8("why")? {
            1 => Self::Released,
            2 => Self::Idle,
            3 => Self::Spent,
            other => return Err(r.refuse("why", other.into())),
        })
    }

    const fn number(self) -> u8 {
        match self {
            Self::Released => 1,
            Self::Idle => 2,
            Self::Spent => 3,
        }
    }
}

impl fmt::Display for RelayEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Released => "the other side left the relay",
            Self::Idle => "the relay carried nothing for a while",
            Self::Spent => "the relay carried as much as one session may",
        })
    }
}
