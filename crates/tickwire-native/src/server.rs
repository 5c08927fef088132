//! x
mod inputs;
