//! OpenDrakan's bugs for a saboteur.

use tickwire_dialects::opendrakan::bundle::Change;
use tickwire_dialects::opendrakan::message::{Confirm, Lifecycle, Message, ObjectChange, Way};
use tickwire_session::Addr;
use tickwire_state::Tick;

use crate::sabotage::{Spoil, Symptom};
use crate::script::{bytes_of, each};

/// A mistake that a server could make.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Bug {
    /// Confirms a delta as one to the snapshot before its reference.
    OtherReference,
    /// Does not say what jumped.
    ForgottenJump,
    /// Says of destroyed objects that they run.
    NotDestroyed,
}

impl Symptom for Bug {
    fn symptom(self) -> &'static str {
        match self {
            Self::OtherReference | Self::NotDestroyed => "is not what it was",
            Self::ForgottenJump => "a jump is shown on its way",
        }
    }
}

impl Spoil for Bug {
    fn spoil(&mut self, _to: Addr, datagram: &[u8]) -> Vec<u8> {
        let mut spoilt = Vec::new();
        each(Way::ServerDatagram, datagram, |message| {
            let message = match message {
                Message::ConfirmSnapshot(confirm) if *self == Self::OtherReference => {
                    let reference = Tick(confirm.reference.0.saturating_sub(3));
                    Message::ConfirmSnapshot(Confirm {
                        reference,
                        ..confirm
                    })
                }
                Message::ObjectChanged {
                    tick,
                    object,
                    change,
                } => Message::ObjectChanged {
                    tick,
                    object,
                    change: self.spoil_change(change),
                },
                message => message,
            };
            spoilt.extend(bytes_of(&[message]));
        });
        spoilt
    }
}

impl Bug {
    fn spoil_change(self, change: ObjectChange<'_>) -> ObjectChange<'_> {
        match (self, change) {
            (Self::ForgottenJump, ObjectChange::States(states)) => {
                let calm = |change| Change {
                    jump: false,
                    ..change
                };
                ObjectChange::States(states.iter().map(calm).collect())
            }
            (Self::NotDestroyed, ObjectChange::Lifecycle(Lifecycle::Destroyed)) => {
                ObjectChange::Lifecycle(Lifecycle::Running)
            }
            (_, change) => change,
        }
    }
}
