//! The arena: a small real game, played through every protocol at once.
//!
//! Ships fight around a sun with guns, phasers, rockets and shockwaves, while planets circle and
//! bend everybody's way. [`Arena`] is the game: one world, advanced a sixtieth of a second at a time,
//! the same for the same seed and the same intents, to the bit. [`View`] and [`Intent`] are what a
//! player sees and wants, whichever protocol is in between, and a [`Bot`] plays from nothing else.
//! The gateways, one file per protocol, connect the two; the game knows none of them.
//! [`tiles`] is the other game, for the protocols that are made for worlds of blocks.
//!
//! ```text
//!   Bot, screen ── Intent ──▶ gateway ═══ protocol ═══ gateway ── Intent ──▶ ┌───────┐
//!                                                                            │ Arena │
//!   Bot, screen ◀── View ──── gateway ═══ protocol ═══ gateway ◀── entities ─ └───────┘
//!                                                                  and events
//! ```
//!
//! ```
//! use tickwire_demo::{Arena, Bot, Loadout};
//!
//! let mut arena = Arena::new(7);
//! let pilot = arena.join("Ada")?;
//! let mut bot = Bot::new(1);
//! arena.select(pilot, bot.loadout());
//! for _ in 0..60 {
//!     let mut view = arena.view();
//!     view.set_viewer(Some(pilot.into()));
//!     arena.set_intent(pilot, bot.think(&view));
//!     arena.step();
//! }
//! assert!(arena.pilot(pilot).is_some_and(|ada| ada.ship().is_some()));
//! # Ok::<(), tickwire_demo::ArenaFull>(())
//! ```

#![forbid(unsafe_code)]

mod arena;
mod bot;
mod entity;
mod flight;
mod game_server;
pub mod gateway;
mod intent;
mod kind;
pub mod limits;
mod loadout;
mod orbit;
mod pace;
mod printable;
mod random;
pub mod recording;
pub mod rules;
mod slots;
pub mod tiles;
mod vector;
pub mod view;
mod worlds;

pub use arena::{Arena, ArenaFull, Berth, Event, Pilot, PilotId, Remembered, Tick};
pub use bot::{Bot, Skill};
pub use entity::{Entity, EntityId};
pub use game_server::{GameServer, STEP, bot_name};
pub use intent::Intent;
pub use kind::Kind;
pub use loadout::{Loadout, Weapon};
pub use pace::Pace;
pub use printable::{is_printable, printable};
pub use random::Random;
pub use vector::{Heading, Vec2};
pub use view::{Effect, OwnerId, Score, Seen, SeenId, View};
pub use worlds::Worlds;
