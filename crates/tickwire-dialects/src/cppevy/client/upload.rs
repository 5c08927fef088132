//! Content on its way up: offered, and sent a piece at a time if the server consents.
//!
//! In: a name and bytes, and the server's answers. Out: an Offer, then Piece actions, a few of them unanswered
//! at a time, and one end. What may be offered is the server's to decide.

use alloc::string::String;
use alloc::sync::Arc;

use tickwire_session::bulk::{ContentHash, Sending};
use tickwire_session::{Belief, Failure, Instant, Outcome, Reason};

use super::{ActError, Client, ClientEvent, FetchError, Phase};
use crate::cppevy::ActionId;
use crate::cppevy::limits::{PIECE_MAX, UPLOAD_MAX, UPLOAD_NAME_MAX, UPLOAD_WINDOW};
use crate::cppevy::message::{Offer, Piece, encode};

/// What is being sent.
#[derive(Debug)]
pub(super) struct Upload {
    name: String,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Offered(Arc<[u8]>),
    Sending { rest: Sending, unanswered: usize },
}

impl Client {
    /// Offers content to the server. It ends in [`ClientEvent::Uploaded`] or
    /// [`ClientEvent::UploadFailed`].
    pub fn offer(&mut self, now: Instant, name: &str, bytes: &[u8]) -> Result<(), FetchError> {
        if self.upload.is_some() {
            return Err(FetchError::OneAtATime);
        }
        if name.is_empty() || name.len() > UPLOAD_NAME_MAX {
            return Err(FetchError::Name);
        }
        let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        if !(1..=UPLOAD_MAX).contains(&size) {
            return Err(FetchError::Size);
        }
        if !matches!(self.phase, Phase::Attaching | Phase::Playing) {
            return Err(FetchError::Act(ActError::NotConnected));
        }
        let hash = ContentHash::of(bytes);
        let data = encode(|w| Offer { size, hash, name }.encode(w));
        self.actions
            .ask(now, ActionId::OFFER, Belief::Confirmed, data)
            .map_err(|error| FetchError::Act(error.into()))?;
        self.upload = Some(Upload {
            name: name.into(),
            stage: Stage::Offered(bytes.into()),
        });
        Ok(())
    }

    pub(super) fn settle_offer(&mut self, now: Instant, outcome: Outcome) {
        let Some(Upload { name, stage }) = &mut self.upload else {
            return;
        };
        let Stage::Offered(bytes) = stage else {
            return;
        };
        match outcome {
            Outcome::Succeeded { .. } => {
                if let Ok(rest) = Sending::new(name, bytes.clone(), 0) {
                    let unanswered = 0;
                    *stage = Stage::Sending { rest, unanswered };
                }
                self.send_pieces(now);
            }
            Outcome::Failed(why) => self.fail_upload(why),
        }
    }

    pub(super) fn settle_piece(&mut self, now: Instant, outcome: Outcome) {
        let Some(upload) = &mut self.upload else {
            return;
        };
        let Stage::Sending { rest, unanswered } = &mut upload.stage else {
            return;
        };
        *unanswered -= 1;
        match outcome {
            Outcome::Failed(why) => self.fail_upload(why),
            // The server answers the last piece with success only if it has the right bytes.
            Outcome::Succeeded { .. } if rest.rest() == 0 && *unanswered == 0 => {
                let name = core::mem::take(&mut upload.name);
                self.upload = None;
                self.events.push_back(ClientEvent::Uploaded { name });
            }
            Outcome::Succeeded { .. } => self.send_pieces(now),
        }
    }

    /// Asks for as many pieces to be taken as may be unanswered.
    fn send_pieces(&mut self, now: Instant) {
        let Some(Upload { stage, .. }) = &mut self.upload else {
            return;
        };
        let Stage::Sending { rest, unanswered } = stage else {
            return;
        };
        let mut asked = Ok(());
        while asked.is_ok()
            && *unanswered < UPLOAD_WINDOW
            && let Some(piece) = rest.poll_piece(PIECE_MAX).filter(|piece| !piece.is_end())
        {
            let offset = u32::try_from(piece.offset).unwrap_or(u32::MAX);
            let bytes = piece.bytes;
            let data = encode(|w| Piece { offset, bytes }.encode(w));
            asked = self
                .actions
                .ask(now, ActionId::PIECE, Belief::Confirmed, data)
                .map(|_| *unanswered += 1);
        }
        if asked.is_err() {
            self.fail_upload(Failure::Refused(Reason::Disabled));
        }
    }

    pub(super) fn fail_upload(&mut self, why: Failure) {
        if let Some(Upload { name, .. }) = self.upload.take() {
            self.events
                .push_back(ClientEvent::UploadFailed { name, why });
        }
    }
}
