//! From a member to the server.

use alloc::string::String;
use alloc::vec::Vec;

use tickwire_wire::DecodeError;

use super::{
    Candidate, Reader, read_array, read_candidates, read_flag, read_text, write_candidates,
    write_frame, write_text,
};
use crate::code::{Code, Fingerprint, Secret};
use crate::limits::{NAME_MAX, PROTOCOL_MAX};

/// A host's session, as the host describes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Register {
    /// What is spoken there, by the names of the handshake: several, with commas.
    pub protocol: String,
    /// What people call it.
    pub name: String,
    /// Whether it is named in lists.
    pub is_public: bool,
    /// How many play.
    pub players: u16,
    /// What the host shows to those who join.
    pub fingerprint: Fingerprint,
    /// Where it may be.
    pub candidates: Vec<Candidate>,
    /// A code that it had before, and the proof.
    pub claim: Option<(Code, Secret)>,
}

/// What a member says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Up {
    /// Here is a session: give me a code.
    Register(Register),
    /// Something about the session changed.
    Update {
        /// How many play.
        players: u16,
        /// Where the host may be.
        candidates: Vec<Candidate>,
    },
    /// Bring me to the session with this code.
    Join {
        /// What the host told its friends.
        code: Code,
        /// Where the joiner may be.
        candidates: Vec<Candidate>,
    },
    /// No direct path was found: relay this pairing.
    WantRelay {
        /// Which.
        pairing: u32,
    },
    /// A direct path was found, or the game is over.
    ReleaseRelay {
        /// Of which pairing.
        pairing: u32,
    },
    /// Which public sessions are there?
    List {
        /// Of one protocol, or of all if it is empty.
        protocol: String,
    },
    /// Still here.
    Alive,
}

impl Up {
    /// Reads a frame.
    pub fn decode(frame: &[u8]) -> Result<Self, DecodeError> {
        Reader::read_all(frame, |r| {
            Ok(match r.u8("kind")? {
                1 => Self::Register(Register {
                    protocol: read_text(r, "protocol", PROTOCOL_MAX)?,
                    name: read_text(r, "name", NAME_MAX)?,
                    is_public: read_flag(r, "is public")?,
                    players: r.u16("players")?,
                    fingerprint: read_array(r, "fingerprint")?,
                    candidates: read_candidates(r)?,
                    claim: match read_flag(r, "has claim")? {
                        false => None,
                        true => Some((Code::read(r)?, read_array(r, "secret")?)),
                    },
                }),
                2 => Self::Update {
                    players: r.u16("players")?,
                    candidates: read_candidates(r)?,
                },
                3 => Self::Join {
                    code: Code::read(r)?,
                    candidates: read_candidates(r)?,
                },
                4 => Self::WantRelay {
                    pairing: r.u32("pairing")?,
                },
                5 => Self::ReleaseRelay {
                    pairing: r.u32("pairing")?,
                },
                6 => Self::List {
                    protocol: read_text(r, "protocol", PROTOCOL_MAX)?,
                },
                7 => Self::Alive,
                other => return Err(r.refuse("kind", other.into())),
            })
        })
    }

    /// Appends the frame, with its length.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Register(register) => write_frame(out, 1, |w| {
                write_text(w, &register.protocol, PROTOCOL_MAX);
                write_text(w, &register.name, NAME_MAX);
                w.u8(register.is_public.into());
                w.u16(register.players);
                w.bytes(&register.fingerprint);
                write_candidates(w, &register.candidates);
                w.u8(register.claim.is_some().into());
                if let Some((code, secret)) = &register.claim {
                    code.write(w);
                    w.bytes(secret);
                }
            }),
            Self::Update {
                players,
                candidates,
            } => write_frame(out, 2, |w| {
                w.u16(*players);
                write_candidates(w, candidates);
            }),
            Self::Join { code, candidates } => write_frame(out, 3, |w| {
                code.write(w);
                write_candidates(w, candidates);
            }),
            Self::WantRelay { pairing } => write_frame(out, 4, |w| w.u32(*pairing)),
            Self::ReleaseRelay { pairing } => write_frame(out, 5, |w| w.u32(*pairing)),
            Self::List { protocol } => {
                write_frame(out, 6, |w| write_text(w, protocol, PROTOCOL_MAX));
            }
            Self::Alive => write_frame(out, 7, |_| ()),
        }
    }
}
