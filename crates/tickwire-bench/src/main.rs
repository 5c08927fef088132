//! How fast Tickwire is: `cargo xtask bench`.
//!
//! Machines differ and are shared, so a figure that has a target is a ratio of two things measured
//! by turns within one run, or so far from its target that no machine makes up for it. `rounds` takes
//! the turns, `clock` counts the processor's time instead of the wall's, `report` says what is met.
//! Each of the other files is one benchmark. What must hold on every machine, such as that a steady
//! state allocates nothing, is no benchmark but a test of this crate.

#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
mod suite;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    suite::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("error: the clocks and the bare loop that this measures with are Linux's");
    ExitCode::from(2)
}
