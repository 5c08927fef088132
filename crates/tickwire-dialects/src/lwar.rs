//! lwar: a space shooter over UDP alone, revision 14 of its protocol.
//!
//! Reliable messages are numbered one by one and repeated in every packet until acknowledged;
//! everything else is sent once and replaced by the next. [`Server`] and [`Client`] are sessions;
//! what they say to each other is in [`wire`], when they say it in [`states`].
//!
//! ```text
//!            Server                                Client
//!   game ─ publish ─▶ entities              entities, predicted ─▶ picture
//!                        │ 15 Hz                  ▲
//!                        ▼                        │
//!         reliable │ updates  ─── 512 bytes ──▶ decode
//!                     decode  ◀── 512 bytes ───  reliable │ input
//!                        │                        ▲
//!   game ◀─ events ──────┘                        └─ steer, chat, select ─ player
//! ```

mod client;
mod id;
mod input;
pub mod limits;
pub mod message;
mod packet;
mod reliable;
mod server;

#[doc = include_str!("lwar/WIRE.md")]
pub mod wire {}

#[doc = include_str!("lwar/STATES.md")]
pub mod states {}

pub use client::{
    Client, ClientConfig, ClientCounters, ClientEvent, EndReason, Entity, Phase, Player, SayError,
    Shown, Track,
};
pub use id::{EntityId, Id, PlayerId};
pub use input::{Button, Buttons, Controls, History, Point};
pub use message::{Kind, Selection};
pub use packet::{Header, inspect};
pub use server::{
    Departure, Server, ServerConfig, ServerCounters, ServerEvent, Shape, TooManyEntities,
};

/// The port that an lwar server listens on unless told otherwise.
pub const PORT: u16 = 32_422;

/// Reads lwar's byte order.
pub type Reader<'a> = tickwire_wire::Reader<'a, tickwire_wire::BigEndian>;
/// Writes lwar's byte order.
pub type Writer<'a> = tickwire_wire::Writer<'a, tickwire_wire::BigEndian>;

/// A name that the protocol carries: cut to its length, and `fallback` instead of nothing.
fn cut_name<'a>(name: &'a str, fallback: &'a str) -> &'a str {
    let end = name.floor_char_boundary(limits::NAME_MAX.into());
    match name.get(..end) {
        None | Some("") => fallback,
        Some(name) => name,
    }
}
