//! The client's half: what a native client shows, as a view.

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_native::{Client, ClientConfig, ClientEvent, EndReason, Phase, Role};
use tickwire_session::{Addr, Events, Instant, Session};

use super::game::{ArenaGame, Body, Controls, News, Ship, Shot, Wish, owner, select};
use crate::gateway::{ArenaClient, ClientGateway, Ending, Notice, Spectator, Status};
use crate::limits::PILOTS;
use crate::{Intent, Loadout, OwnerId, Score, SeenId, View};

/// Marks the ids of shots that the server has not confirmed: a world has far fewer entities.
const AHEAD: u32 = 1 << 31;

pub(super) struct Gateway {
    client: Client<ArenaGame>,
    own: Option<OwnerId>,
    scores: BTreeMap<OwnerId, Score>,
    was_in: bool,
    last_words: Option<String>,
}

impl Gateway {
    pub(super) fn new(now: Instant, server: Addr, name: &str, role: Role) -> Self {
        let name = name.into();
        Self {
            client: Client::new(now, ClientConfig { server, name, role }),
            own: None,
            scores: BTreeMap::new(),
            was_in: false,
            last_words: None,
        }
    }

    /// Chooses weapons. It goes out when the server answers.
    pub(super) fn select(&mut self, loadout: Loadout) {
        self.client.say(&select(loadout)).ok();
    }

    fn handle_news(&mut self, news: News, notices: &mut Vec<Notice>) {
        match news {
            News::You { owner: number } => self.own = owner(number),
            News::Score {
                owner: number,
                name,
                kills,
                deaths,
                ping,
            } => {
                let millis = Some(ping).filter(|ping| *ping > 0);
                if let Some(owner) = owner(number)
                    && (self.scores.len() < PILOTS.into() || self.scores.contains_key(&owner))
                {
                    let score = Score {
                        owner,
                        name,
                        kills,
                        deaths,
                        ping: millis.map(|millis| Duration::from_millis(millis.into())),
                    };
                    self.scores.insert(owner, score);
                }
            }
            News::Gone { owner: number } => {
                if let Some(score) = owner(number).and_then(|owner| self.scores.remove(&owner)) {
                    notices.push(Notice::Left {
                        name: score.name,
                        why: "left".into(),
                    });
                }
            }
            News::Said { name, text } => notices.push(Notice::Said { name, text }),
            News::Killed { victim, by } => {
                let victim = self.name_of(victim).unwrap_or_default();
                let by = self.name_of(by);
                notices.push(Notice::Killed { victim, by });
            }
        }
    }

    fn name_of(&self, number: u32) -> Option<String> {
        let score = self.scores.get(&owner(number)?);
        Some(score.map_or_else(|| "somebody".into(), |score| score.name.clone()))
    }
}

impl ClientGateway for Gateway {
    fn session(&mut self) -> &mut dyn Session {
        &mut self.client
    }

    fn figures(&self) -> &dyn Session {
        &self.client
    }

    fn collect(&mut self, now: Instant, notices: &mut Vec<Notice>) {
        self.client.update(now);
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Joined { .. } => self.was_in = true,
                ClientEvent::Said(news) | ClientEvent::Happened(news) => {
                    self.handle_news(news, notices)
                }
                ClientEvent::Ended { words, .. } if !words.is_empty() => {
                    self.last_words = Some(words);
                }
                _ => {}
            }
        }
    }

    fn status(&self) -> Status {
        match self.client.phase() {
            Phase::Connecting => Status::Connecting,
            Phase::Playing | Phase::Interrupted | Phase::Leaving => Status::Playing,
            Phase::Ended(why) => Status::Ended(match why {
                EndReason::Left => Ending::Left,
                EndReason::Full | EndReason::Busy => Ending::Full,
                EndReason::Unreachable if !self.was_in => Ending::Unreachable,
                EndReason::Unreachable | EndReason::TimedOut | EndReason::Disconnected => {
                    Ending::broken_off(self.was_in)
                }
                EndReason::Malformed => Ending::garbled(self.was_in),
                EndReason::ShutDown | EndReason::Kicked | EndReason::Banned if self.was_in => {
                    Ending::Removed
                }
                _ => Ending::Refused,
            }),
        }
    }

    fn remark(&self) -> Option<String> {
        if self.client.phase() == Phase::Interrupted {
            return Some("the connection broke: coming back".into());
        }
        let delay = self.client.delay()?.as_millis();
        let error = self.client.prediction().last_error;
        Some(format!("{delay} ms behind, off by {error:.1}"))
    }

    fn last_words(&self) -> Option<String> {
        match self.client.phase() {
            Phase::Ended(why) => self.last_words.clone().or_else(|| Some(why.to_string())),
            _ => None,
        }
    }

    fn chat(&mut self, _now: Instant, text: &str) -> Result<(), String> {
        let end = text.floor_char_boundary(200);
        let text = text.get(..end).unwrap_or_default().to_owned();
        let said = self.client.say(&Wish::Chat { text });
        said.map_err(|error| error.to_string())
    }

    fn disconnect(&mut self, now: Instant) {
        self.client.leave(now);
    }
}

impl Spectator for Gateway {
    fn ask_anew(&mut self) {
        self.client.ask_anew();
    }
}

impl ArenaClient for Gateway {
    fn view(&mut self, now: Instant) -> View {
        self.client.update(now);
        let client = &self.client;
        let seen = |id: tickwire_native::EntityId| SeenId(id.0);
        let ships = client.view::<Ship>().map(|(id, it)| (seen(id), it).into());
        let shots = client.view::<Shot>().map(|(id, it)| (seen(id), it).into());
        let ahead = client.provisional::<Shot>();
        let ahead = ahead.map(|(id, it)| (SeenId(AHEAD | id.0), it).into());
        let bodies = client.view::<Body>().map(|(id, it)| (seen(id), it).into());
        let mut view = View {
            time: now.since(Instant::ZERO),
            seen: ships.chain(shots).chain(ahead).chain(bodies).collect(),
            own_ship: None,
        };
        view.set_viewer(self.own);
        view
    }

    fn scores(&self) -> Vec<Score> {
        self.scores.values().cloned().collect()
    }

    fn act(&mut self, intent: &Intent) {
        self.client.set_input(Controls::new(intent));
    }
}
