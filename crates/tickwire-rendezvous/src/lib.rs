//! Players find each other by a code, punch through their routers, and fall back to a relay.
//!
//! Three [sessions](tickwire_session::Session), without sockets, clocks or randomness like every other. A
//! [`Lobby`] is the server that everybody can reach. A [`Member`] is whoever hosts a game or joins one; it
//! shares its UDP socket with the game's QUIC, so that the path that it finds is the game's. A [`Relay`] carries
//! the packets of two members between whom no path was found. A [`Gate`] is the server's door for members whose
//! network lets only TCP out.
//!
//! ```text
//!      host                           lobby                          joiner
//!    Member ── STUN: what is my address? ──▶ ◀── STUN: what is mine? ── Member
//!       │ ───── Register(name, address) ────▶                              │
//!       │ ◀──── Registered(KXQJTR) ─────────                               │
//!       │                                     ◀──────── Join(KXQJTR) ───── │
//!       │ ◀──── Knock(joiner's addresses) ──── ── Admitted(host's, key) ──▶│
//!       │                                                                  │
//!       │ ◀═══ probes to every address of the other, from both sides ═══▶ │
//!       │ ◀═══════════════════ the best that answers ════════════════════▶ │   the game's QUIC
//!       │                                                                  │
//!       │      if none answers within RELAY_AFTER   ◀──── WantRelay ────── │
//!       │ ◀──── Relayed(port) ────────────── Relay ────── Relayed(port) ──▶│
//!       │ ◀═══════════════ Bind ═════════════▶ ◀══════════ Bind ══════════▶│   the game's QUIC,
//!       │ ◀═══════════════════ until a direct path answers ══════════════▶ │   by the relay
//! ```
//!
//! What the game says is encrypted from member to member and pinned to the host's fingerprint, which the lobby
//! passes on: neither lobby nor relay can read it. A lobby could give a joiner a wrong fingerprint, so it is
//! trusted with that; who does not want to passes `--server-fingerprint` as with any server.

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing)]

extern crate alloc;

mod carried;
mod code;
mod gate;
pub mod limits;
mod lobby;
mod member;
pub mod message;
pub mod probe;
mod relay;
pub mod stun;

pub use carried::{read_carried, write_carried};
pub use code::{CODE_LENGTH, Code, Fingerprint, NoCode, Secret};
pub use gate::{Carried, Gate};
pub use lobby::{Lobby, LobbyEvent};
pub use member::{Member, MemberEvent, PathKind, Purpose};
pub use message::{Candidate, CandidateKind, Listing, Refusal, Register, RelayEnd};
pub use relay::{Budget, Relay};

#[doc = include_str!("WIRE.md")]
pub mod wire {}

#[doc = include_str!("STATES.md")]
pub mod states {}
