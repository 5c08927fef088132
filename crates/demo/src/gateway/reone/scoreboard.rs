//! The scores of everybody, as a client asks for them.
//!
//! In: the answers to its calls. Out: calls, and a line for every pilot. One call of the arena's own tells
//! all kills and deaths. Round trips are variables of the game, one for each pilot, so they are asked for
//! by turns.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Duration;

use tickwire_dialects::reone::message::Call;
use tickwire_dialects::reone::{CallId, CallReply, Client, ObjectId, Phase, ScopeState, Text};
use tickwire_session::Instant;

use super::words::{self, ScoreLine};
use super::{DEATHS, KILLS, PING, SCORES, WAITING, word};
use crate::{OwnerId, Score};

/// Between two looks at the scores.
const PERIOD: Duration = Duration::from_secs(1);

/// Round trips that are asked for at a time: of a full arena, all in little more than a minute.
const PINGS_AT_ONCE: usize = 8;

#[derive(Debug)]
pub(super) struct Scoreboard {
    lines: BTreeMap<ObjectId, ScoreLine>,
    pings: BTreeMap<ObjectId, Duration>,
    /// Calls that are not answered.
    asked: BTreeMap<CallId, Asked>,
    next: Instant,
    /// Whose round trip was asked for last.
    last: ObjectId,
    /// The place among those who wait for a ship, as far as it was asked for.
    waiting: Option<u32>,
}

/// What a call is about.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Scores,
    Ping(ObjectId),
    Waiting,
}

impl Scoreboard {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            lines: BTreeMap::new(),
            pings: BTreeMap::new(),
            asked: BTreeMap::new(),
            next: now,
            last: ObjectId(0),
            waiting: None,
        }
    }

    /// Asks, if it is time and everything before is answered.
    pub(super) fn ask(&mut self, now: Instant, client: &mut Client) {
        let is_due = client.phase() == Phase::Playing && now >= self.next;
        if !is_due || !self.asked.is_empty() {
            return;
        }
        self.next = now + PERIOD;
        let scores = client.call(now, word(SCORES), &[]);
        self.asked.extend(scores.ok().map(|id| (id, Asked::Scores)));
        // Snapshots tell a creature's variables to its player, and who looks on has no creature.
        if client.own().is_none() {
            let waiting = client.ask(now, Call::Local(word(WAITING)));
            self.asked
                .extend(waiting.ok().map(|id| (id, Asked::Waiting)));
        }
        let last = self.last;
        let later = self.lines.range((Bound::Excluded(last), Bound::Unbounded));
        let by_turns = later.chain(self.lines.range(..=last));
        for (creature, line) in by_turns.take(PINGS_AT_ONCE) {
            let variable = format!("{PING}{}", line.name);
            let Ok(variable) = Text::new(&variable) else {
                continue;
            };
            let asked = client.ask(now, Call::Global(variable));
            let ping = Asked::Ping(*creature);
            self.asked.extend(asked.ok().map(|id| (id, ping)));
            self.last = *creature;
        }
    }

    /// A call ended. Returns whether it was one of these.
    pub(super) fn handle_reply(&mut self, id: CallId, reply: Option<&CallReply>) -> bool {
        let Some(asked) = self.asked.remove(&id) else {
            return false;
        };
        match (asked, reply) {
            (Asked::Scores, Some(CallReply::Bytes(bytes))) => {
                if let Some(lines) = words::decode_scores(bytes) {
                    let lines = lines.into_iter().map(|line| (line.creature, line));
                    self.lines = lines.collect();
                    self.pings.retain(|id, _| self.lines.contains_key(id));
                }
            }
            (Asked::Ping(creature), Some(CallReply::Global(millis))) => {
                match u64::try_from(*millis) {
                    Ok(millis @ 1..) => {
                        let ping = Duration::from_millis(millis);
                        self.pings.insert(creature, ping);
                    }
                    _ => {
                        self.pings.remove(&creature);
                    }
                }
            }
            (Asked::Waiting, Some(CallReply::Local(place))) => {
                self.waiting = u32::try_from(*place).ok().filter(|place| *place > 0);
            }
            _ => {}
        }
        true
    }

    /// The place among those who wait for a ship, if it is known.
    pub(super) const fn waiting(&self) -> Option<u32> {
        self.waiting
    }

    /// What the pilot of a ship is called.
    pub(super) fn name(&self, id: ObjectId) -> Option<&str> {
        self.lines.get(&id).map(|line| &*line.name)
    }

    /// A line for everybody. Of the own one, a snapshot tells earlier.
    pub(super) fn scores(&self, own: Option<(ObjectId, &ScopeState)>) -> Vec<Score> {
        let lines = self.lines.iter().map(|(id, line)| {
            let own = own.filter(|(own, _)| own == id);
            let score = |name, asked| {
                let told = own.map(|(_, state)| u16::try_from(state.variable(name)));
                told.map_or(asked, |told| told.unwrap_or(asked))
            };
            Score {
                owner: OwnerId(id.0),
                name: line.name.clone(),
                kills: score(KILLS, line.kills),
                deaths: score(DEATHS, line.deaths),
                ping: self.pings.get(id).copied(),
            }
        });
        lines.collect()
    }

    /// Another round begins.
    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.pings.clear();
    }
}
