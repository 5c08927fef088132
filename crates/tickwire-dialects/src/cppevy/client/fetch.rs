//! How an asset is fetched: the list first, if need be, then the asset.

use tickwire_session::{ActionNumber, AskError, Belief, Failure, Instant, Outcome, Reason};

use super::super::ActionId;
use super::super::limits::ASSET_NAME_MAX;
use super::super::message::{AssetRequest, encode};
use super::super::server::INDEX;
use super::asset::{Asset, Index, Step};
use super::{ActError, AssetFailure, Client, ClientEvent, FetchError, Phase};

impl Client {
    /// Fetches an asset, and the server's list of them before if it is not known. `index` is the
    /// list itself. It ends in [`ClientEvent::AssetFetched`] or [`ClientEvent::AssetFailed`].
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
        let listed = self.index.as_ref().and_then(|index| index.get(name));
        let fetch = match listed {
            None if name != INDEX => {
                let mut index = Asset::new(now, INDEX, None);
                index.then = Some(name.into());
                index
            }
            _ => Asset::new(now, name, listed),
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
            Outcome::Succeeded { message, .. } => fetch.begin(now, &message),
            Outcome::Failed(why) => Err(AssetFailure::Action(why)),
        };
        self.go_on_fetching(now, step);
    }

    /// Does what follows from a step of the fetch.
    pub(super) fn go_on_fetching(&mut self, now: Instant, step: Result<Step, AssetFailure>) {
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
            Ok(Step::Complete) => self.complete_fetch(now),
            Err(why) => self.fail_fetch(why),
        }
    }

    fn complete_fetch(&mut self, now: Instant) {
        let Some(mut fetch) = self.fetch.take() else {
            return;
        };
        let (name, then) = (core::mem::take(&mut fetch.name), fetch.then.take());
        let bytes = fetch.into_bytes();
        let is_index = name == INDEX;
        if is_index {
            self.index = Some(Index::parse(&bytes));
        }
        let Some(wanted) = then.filter(|_| is_index) else {
            self.events
                .push_back(ClientEvent::AssetFetched { name, bytes });
            return;
        };
        let listed = self.index.as_ref().and_then(|index| index.get(&wanted));
        self.fetch = Some(Asset::new(now, &wanted, listed));
        if listed.is_none() {
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
