//! x
mod input_clock;
mod playback;
