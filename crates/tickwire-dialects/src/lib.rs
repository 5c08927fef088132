//! Published game protocols, client and server, to the byte.
//!
//! Each dialect is a module with the same skeleton: `message` (bytes to meaning and back), `client`
//! and `server` (sessions, see [`tickwire_session`]), `limits` (every bound, with its reason), and
//! two documents that are published with the code: `wire`, complete enough to write a compatible
//! peer from, and `states`. Dialects do not know each other, nor any game.
//!
//! | module | protocol | carried by |
//! |---|---|---|
//! | [`cppevy`] | states at a timepoint, events, and actions with answers | UDP and TCP |
//! | [`lwar`] | a space shooter with reliable messages of its own | UDP |
//! | [`opendrakan`] | an engine's snapshots, each by its difference to an acknowledged one | UDP and TCP |
//! | [`pixmess`] | a world of tiles, in chunks that clients subscribe to | TCP |
//! | [`reone`] | an engine's creatures, each snapshot by its difference to one the client has | UDP and TCP |

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing)]

extern crate alloc;

pub mod cppevy;
pub mod lwar;
pub mod opendrakan;
pub mod pixmess;
pub mod reone;
