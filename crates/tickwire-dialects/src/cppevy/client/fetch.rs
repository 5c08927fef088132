//! How an asset is fetched: the index first, unless it is known, then the asset.

use alloc::vec::Vec;

use tickwire_session::{ActionNumber, AskError, Belief, Failure, Instant, Outcome, Reason};

use super::asset::{Asset, NotReceiving, Step, find_listed};
use super::{ActError, AssetFailure, Client, ClientEvent, FetchError, Phase};
use crate::cppevy::ActionId;
use crate::cppevy::limits::ASSET_NAME_MAX;
use crate::cppevy::message::{AssetRequest, Piece, encode};
use crate::cppevy::server::INDEX;

impl Client {
    /// Fetches an asset, and the server's index of them before if it is not known. `index` is the
    /// index itself. It ends in [`ClientEvent::AssetFetched`] or [`ClientEvent::AssetFailed`].
    pub fn fetch(&mut self, now: Instant, name: &str) -> Result<(), FetchError> {
        if self.fetch.is_some() {
            return Err(FetchError::OneAtATime);
        }
        if name.is_empty() || name.len() > ASSET_NAME_MAX {
            return Err(FetchError::Name);
        }
        if !matches!(self.phase, Phase::Attaching | Phase::Playing) {
            return Err(FetchError::Act(ActError::NotConnected));
        }
        let index = self.index.as_deref();
        let listed = index.and_then(|index| find_listed(index, name));
        let fetch = match listed {
            None if name != INDEX => {
                let mut index = Asset::new(INDEX, None);
                index.then = Some(name.into());
                index
            }
            _ => Asset::new(name, listed),
        };
        self.ask_asset(now, &fetch.name)
            .map_err(|error| FetchError::Act(error.into()))?;
        self.fetch = Some(fetch);
        Ok(())
    }

    fn ask_asset(&mut self, now: Instant, name: &str) -> Result<ActionNumber, AskError> {
        let request = AssetRequest { offset: 0, name };
        let data = encode(|w| request.encode(w));
        self.actions
            .ask(now, ActionId::ASSET, Belief::Confirmed, data)
    }

    pub(super) fn settle_asset(&mut self, now: Instant, outcome: Outcome) {
        let Some(fetch) = &mut self.fetch else {
            return;
        };
        let step = match outcome {
            Outcome::Succeeded { message, .. } => fetch.handle_size(now, &message),
            Outcome::Failed(why) => Err(AssetFailure::Action(why)),
        };
        self.advance_fetch(now, step);
    }

    pub(super) fn handle_piece(&mut self, now: Instant, piece: &Piece<'_>) {
        let fetch = self.fetch.as_mut().ok_or(NotReceiving);
        match fetch.and_then(|fetch| fetch.handle_piece(now, piece)) {
            Ok(step) => self.advance_fetch(now, step),
            Err(NotReceiving) => self.counters.unexpected_piece += 1,
        }
    }

    /// Does what follows from a step of the fetch.
    fn advance_fetch(&mut self, now: Instant, step: Result<Step, AssetFailure>) {
        match step {
            Ok(Step::Nothing) => {}
            Ok(Step::Progress { received, total }) => {
                if let Some(fetch) = self.fetch.as_ref().filter(|fetch| fetch.then.is_none()) {
                    self.events.push_back(ClientEvent::AssetProgress {
                        name: fetch.name.clone(),
                        received,
                        total,
                    });
                }
            }
            Ok(Step::Complete(bytes)) => self.complete_fetch(now, bytes),
            Err(why) => self.fail_fetch(why),
        }
    }

    fn complete_fetch(&mut self, now: Instant, bytes: Vec<u8>) {
        let Some(Asset { name, then, .. }) = self.fetch.take() else {
            return;
        };
        if name == INDEX {
            self.index = Some(bytes.clone());
        }
        let Some(wanted) = then else {
            self.events
                .push_back(ClientEvent::AssetFetched { name, bytes });
            return;
        };
        let listed = find_listed(&bytes, &wanted);
        let is_listed = listed.is_some();
        self.fetch = Some(Asset::new(&wanted, listed));
        if !is_listed {
            self.fail_fetch(AssetFailure::NotListed);
        } else if self.ask_asset(now, &wanted).is_err() {
            let failure = Failure::Refused(Reason::Disabled);
            self.fail_fetch(AssetFailure::Action(failure));
        }
    }

    pub(super) fn fail_fetch(&mut self, why: AssetFailure) {
        if let Some(fetch) = self.fetch.take() {
            if matches!(why, AssetFailure::Mismatch | AssetFailure::NotListed) {
                self.index = None;
            }
            let name = fetch.then.unwrap_or(fetch.name);
            self.events
                .push_back(ClientEvent::AssetFailed { name, why });
        }
    }
}
