//! The contract between a game protocol and whatever carries its bytes.
//!
//! A protocol, client or server, is a [`Session`]: a value without sockets, clocks, threads or
//! entropy of its own. What happened on its paths is handed in, with the time; bytes to carry,
//! events for the game and the next moment to be woken are polled out. Whoever does that is a
//! *driver*: `tickwire-net` on real sockets, `tickwire-sim` on a simulated network. Neither knows
//! which protocol it drives.
//!
//! ```text
//!                 handle_opened / handle_stream / handle_datagram
//!                 handle_room / handle_closed / handle_timeout
//!    ┌────────┐ ───────────────────────────────────────────▶ ┌─────────┐ ◀── publish, act ── ┌──────┐
//!    │ driver │                                              │ session │                     │ game │
//!    └────────┘ ◀─────────────────────────────────────────── └─────────┘ ──── poll_event ──▶ └──────┘
//!                 poll_transmit / poll_timeout
//! ```
//!
//! Start with [`Session`], which holds the one rule that everybody must keep; then read [`echo`],
//! two whole protocols of a page each.

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing)]

extern crate alloc;

/// What sessions write to; named here for [`pass_on_session!`].
#[doc(hidden)]
pub type Bytes = alloc::vec::Vec<u8>;

mod action;
mod admission;
mod attach;
mod backlog;
mod bucket;
pub mod bulk;
mod call;
mod counters;
pub mod echo;
mod idle;
mod loss;
mod path;
mod peers;
mod rooms;
mod round_trip;
mod session;
pub mod stats;
pub mod tap;
mod time;
mod updates;
mod uplink;
mod window;

pub use action::{
    ActionNumber, Actions, AskError, BUSY_FIRST, BUSY_LONGEST, Belief, EndedAction, Failure,
    Outcome, Reason, Unasked,
};
pub use admission::{
    JOIN_REFILL, JOIN_REFILL_A_HOST, JOINS, JOINS_A_HOST, Joins, NotAdmitted, PROOF_PATIENCE,
    WAITING_MAX, Waiting,
};
pub use attach::{Attached, Attachments, Denied, Token, WRONG_TOKEN_REFILL, WRONG_TOKENS};
pub use backlog::Backlog;
pub use bucket::{HostBuckets, TokenBucket};
pub use call::{
    CallId, CallOutcome, CallStatus, Calls, CallsWaiting, EndedCall, METHOD_NAME_MAX, METHODS_MAX,
    MethodError, Methods, TooManyCalls,
};
pub use idle::Idle;
pub use loss::Loss;
pub use path::{Addr, Ended, Host, Path, Room, StreamId, Transmit};
pub use peers::{Due, Opened, Peer, PeerId, PeerLink, Peers, Wrote};
pub use rooms::Rooms;
pub use round_trip::RoundTrip;
pub use session::{Events, Session};
pub use stats::{PeerStats, Traffic};
pub use tap::Tap;
pub use time::Instant;
pub use updates::{UPDATES_KEPT, Updates};
pub use uplink::{ATTACH_PERIOD, KEEP_ALIVE, RETRY_FIRST, RETRY_LONGEST, StreamLoss, Uplink};
pub use window::SlidingWindow;
