//! reone: what its modes spare, what loading a module takes, and how many clients a processor serves.
//!
//! [`modes`] counts the bytes of snapshots and times their coding, [`load`] moves a module over loopback
//! beside a bare copy of the same bytes, [`crowd`] is a thousand clients in one world, and [`audience`] their
//! sockets. A [`guest::Guest`] is a client as far as a server can tell, without a session of its own.

mod audience;
mod crowd;
mod guest;
mod load;
mod modes;

use super::report::Figure;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut figures = modes::run()?;
    figures.extend(load::run()?);
    figures.extend(crowd::run()?);
    Ok(figures)
}
