//! OpenDrakan's bugs for a saboteur.

use tickwire_dialects::opendrakan::bundle::Change;
use tickwire_dialects::opendrakan::message::{BasicChanges, Confirm, Lifecycle, Message, Way};
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
            let message = match (*self, message) {
                (Self::OtherReference, Message::ConfirmSnapshot(confirm)) => {
                    let reference = Tick(confirm.reference.0.saturating_sub(3));
                    Message::ConfirmSnapshot(Confirm {
                        reference,
                        ..confirm
                    })
                }
                (
                    Self::ForgottenJump,
                    Message::ObjectStates {
                        tick,
                        object,
                        states,
                    },
                ) => {
                    let calm = |change| Change {
                        jump: false,
                        ..change
                    };
                    let states: BasicChanges = states.iter().map(calm).collect();
                    Message::ObjectStates {
                        tick,
                        object,
                        states,
                    }
                }
                (
                    Self::NotDestroyed,
                    Message::LifecycleChanged {
                        tick,
                        object,
                        lifecycle: Lifecycle::Destroyed,
                    },
                ) => Message::LifecycleChanged {
                    tick,
                    object,
                    lifecycle: Lifecycle::Running,
                },
                (_, message) => message,
            };
            spoilt.extend(bytes_of(&[message]));
        });
        spoilt
    }
}
