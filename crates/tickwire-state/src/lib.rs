//! What every snapshot protocol does with its snapshots, and every server with its players.
//!
//! [`History`] keeps the newest ones by tick, as baselines for deltas. [`Timeline`] shows the world at
//! any moment between them, and a little beyond the last: it blends positions, turns and sizes, holds
//! what jumped, and never runs backwards. [`RemoteClock`] says which moment the server is at. What a
//! snapshot holds is the protocol's: a timeline asks its objects only to [`Blend`].
//!
//! A server chooses what to send with a [`Grid`] and, for each watcher, a [`Sight`]; it takes inputs as
//! fast as the clock allows ([`InputCredit`]), and judges a shot by what the shooter saw ([`Rewind`]). A
//! client moves its own object at once, and lets the server be right in the end ([`Predictor`]).
//!
//! ```
//! use core::time::Duration;
//! use tickwire_state::{Timeline, Vec3};
//!
//! let at = |x| Vec3 { x, y: 0.0, z: 0.0 };
//! let ms = Duration::from_millis;
//! let mut timeline = Timeline::new(16, ms(250));
//! timeline.insert(ms(100), at(0.0)).unwrap();
//! timeline.insert(ms(150), at(10.0)).unwrap();
//!
//! let sample = timeline.sample(ms(125)).unwrap();
//! assert_eq!(sample.show(|snapshot| Some(snapshot)), Some(at(5.0)));
//! ```

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing)]

extern crate alloc;

mod blend;
mod clock;
mod credit;
mod grid;
mod history;
mod prediction;
mod rewind;
mod sight;
mod tick;
mod timeline;

pub use blend::{Angle, Blend, Quat, Vec2, Vec3, blend_unless};
pub use clock::{RemoteClock, WrappingClock};
pub use credit::{InputCredit, InputRate, TooFast};
pub use grid::{Circle, Grid};
pub use history::History;
pub use prediction::{
    CORRECTION, INPUTS_WAITING, InputError, InputNumber, Motion, Prediction, PredictionFigures,
    Predictor,
};
pub use rewind::{Past, REWIND_MAX, Rewind};
pub use sight::{Sight, SightRange};
pub use tick::Tick;
pub use timeline::{Sample, Timeline, TooLate};
