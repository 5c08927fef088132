//! A script carried out on a session, up to its last byte.
//!
//! In: a session that is driven, with whatever its target knows of the other side, and the script. Which
//! steps there are, what may come of them and what must hold after each is the target's to say; when to
//! drain and when to look is said here, for all of them.

use crate::script::Script;

/// A session, and what is known of those it speaks to.
pub(crate) trait Scripted {
    /// Does what `choice` says. Its highest bit means nothing here.
    fn step(&mut self, choice: u8, script: &mut Script<'_>);

    /// Drains the session and judges what came of it.
    fn drain(&mut self);

    /// Judges the session as it is.
    fn check(&mut self);

    /// Judges what becomes of the session when the script is over.
    fn finish(&mut self) {}
}

/// Carries out a script.
///
/// # Panics
/// If the session is judged to be wrong.
pub(crate) fn carry_out(mut script: Script<'_>, mut run: impl Scripted) {
    while let Some(choice) = script.choice() {
        run.step(choice, &mut script);
        // Drivers hand in several things before they drain, so not after every step.
        if choice & 0x80 == 0 {
            run.drain();
        }
        run.check();
    }
    run.drain();
    run.finish();
}
