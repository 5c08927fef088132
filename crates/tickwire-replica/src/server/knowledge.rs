//! What all clients know of all places, kept once for those who know the same.
//!
//! Clients that look at the same place, are sent the same records and acknowledge them alike know the
//! same. What becomes of it next depends only on what is done: a survey, a record sent, a record
//! acknowledged. So the first client that takes such a *step* computes it, and leaves a link from what was
//! known before to what is known then; all others follow the link. A client whose packets were lost knows
//! something else, alone, and steps in place. When it knows what others know, a survey finds out, and it
//! walks with them again.
//!
//! Links last from one send to the next. What nobody knows any more is used again after that, memory
//! included, so that there is never more than clients know and one send has added.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;

use super::known::{KnownPlace, Moment, Oldest, Survey};
use super::ledger::RecordIndex;
use super::records::{Chains, Numbered, Records};
use crate::coder::Ages;
use crate::limits::ENTERING_MAX;
use crate::number::{BlockNumber, SendIndex};
use crate::world::Place;

/// What all clients know.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    states: Vec<State>,
    /// The one that has waited longest is used first, so that all of them soon have had their largest size.
    free: VecDeque<KnownId>,
    /// States that nobody was in when they were added, in this send and in the one before.
    idle: [Vec<KnownId>; 2],
    /// Surveyed in this send, in a chain for each place.
    surveyed: Vec<(Mark, Option<usize>)>,
    chains: Chains,
    send: SendIndex,
}

/// What a client knows of a place: one of the states of [`Knowledge`]. Whoever has it is one of its users.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct KnownId(u32);

/// A state as it was when the mark was made.
#[derive(Clone, Copy, Debug)]
struct Mark {
    id: KnownId,
    version: u32,
}

/// What some clients know of a place.
#[derive(Debug, Default)]
pub(super) struct State {
    known: KnownPlace,
    /// What the last survey found.
    survey: Survey,
    /// Blocks that could not be known before the last record was sent.
    first: Vec<BlockNumber>,
    /// What everything that is due is relative to, once somebody has asked.
    whole: Option<Option<Ages>>,
    /// What must arrive, once somebody has asked.
    oldest: Option<Oldest>,
    links: Vec<(Step, Mark)>,
    users: u32,
    /// Counts changes, after which no mark of it is good any more.
    version: u32,
    /// The last send in which a mark of it was left for others to find.
    marked: SendIndex,
}

/// What makes another state of one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Step {
    Survey(Moment),
    Sent(SendIndex, RecordIndex),
    Acknowledged(SendIndex, RecordIndex),
}

/// How many different states of a place a survey is compared with.
const COMPARED: usize = 8;

/// Every so many sends a client that is alone leaves behind what its survey found, for others to find.
const MEETING: u64 = 16;

impl Knowledge {
    /// Begins another send.
    pub(super) fn begin(&mut self, send: SendIndex) {
        self.send = send;
        self.surveyed.clear();
        let [new, old] = &mut self.idle;
        for id in old.drain(..) {
            if let Some(state) = self.states.get_mut(id.0 as usize)
                && state.users == 0
                && state.version.is_multiple_of(2)
            {
                state.links.clear();
                // Odd while it is free: it may have become idle twice.
                state.version = state.version.wrapping_add(1);
                self.free.push_back(id);
            }
        }
        mem::swap(new, old);
    }

    /// A place of which nothing is known.
    pub(super) fn enter(&mut self) -> KnownId {
        let id = self.add();
        self.state_mut(id).known = KnownPlace::default();
        id
    }

    /// Nobody asks for it in this client's name any more.
    pub(super) fn leave(&mut self, id: KnownId) {
        let state = self.state_mut(id);
        state.users -= 1;
        if state.users == 0 {
            let [new, _] = &mut self.idle;
            new.push(id);
        }
    }

    pub(super) fn get(&self, id: KnownId) -> &KnownPlace {
        &self.state(id).known
    }

    /// What the last survey found.
    pub(super) fn found(&self, id: KnownId) -> &Survey {
        &self.state(id).survey
    }

    /// Brings a client's knowledge of a place up to date, and finds out what is due.
    pub(super) fn survey(&mut self, id: &mut KnownId, (number, place): Numbered<'_>, at: &Moment) {
        let before = *id;
        let step = Step::Survey(*at);
        if self.follow(id, step) {
            return;
        }
        let is_alone = self.own(id);
        let state = self.state_mut(*id);
        state.known.survey(place, at, &mut state.survey);
        (state.whole, state.oldest) = (None, None);
        let first = self.chains.first(number.0, self.send);
        if let Some(same) = self.same(first, *id) {
            self.join(id, same);
        } else if let Some(mark) = self.mark(*id, !is_alone) {
            self.surveyed.push((mark, first));
            let at = self.surveyed.len() - 1;
            self.chains.push(number.0, self.send, at);
        }
        if !is_alone {
            self.link(before, step, *id);
        }
    }

    /// A state of a chain that equals one which was just surveyed.
    fn same(&self, first: Option<usize>, id: KnownId) -> Option<KnownId> {
        let surveyed = self.state(id);
        let mut next = first;
        for _ in 0..COMPARED {
            let (mark, after) = self.surveyed.get(next?)?;
            if let Some(other) = self.marked(*mark)
                && other.survey == surveyed.survey
                && other.known == surveyed.known
            {
                return Some(mark.id);
            }
            next = *after;
        }
        None
    }

    /// What one record of all blocks of a place that changed since a baseline would be relative to, if
    /// there is one baseline for all of them.
    pub(super) fn whole(
        &mut self,
        id: KnownId,
        place: Numbered<'_>,
        records: &mut Records,
    ) -> Option<Ages> {
        let send = self.send;
        let state = self.state_mut(id);
        let State { known, survey, .. } = state;
        *state
            .whole
            .get_or_insert_with(|| known.whole(place, survey, send, records))
    }

    /// Notes that a record is part of a packet. Returns the blocks that the client could not know before.
    pub(super) fn mark_sent(
        &mut self,
        id: &mut KnownId,
        record: RecordIndex,
        blocks: &[BlockNumber],
    ) -> &[BlockNumber] {
        let send = self.send;
        self.step(id, Step::Sent(send, record), |state| {
            state.first.clear();
            state.known.mark_sent(blocks, send, &mut state.first);
        });
        &self.state(*id).first
    }

    /// A packet that holds this record was acknowledged.
    pub(super) fn acknowledge(
        &mut self,
        id: &mut KnownId,
        (send, record): (SendIndex, RecordIndex),
        blocks: &[BlockNumber],
    ) {
        self.step(id, Step::Acknowledged(send, record), |state| {
            state.known.acknowledge(blocks, send);
        });
    }

    /// What must arrive for a client to know all of a place.
    pub(super) fn oldest(&mut self, id: KnownId, place: &Place) -> Oldest {
        let send = self.send;
        let State { known, oldest, .. } = self.state_mut(id);
        *oldest.get_or_insert_with(|| known.oldest(place, send))
    }

    /// What a client knows, for itself alone to change.
    pub(super) fn change(&mut self, id: &mut KnownId) -> &mut KnownPlace {
        let before = *id;
        if !self.own(id) {
            self.leave(before);
        }
        &mut self.state_mut(*id).known
    }

    /// Takes a step: with those who took it before, or computing it.
    fn step(&mut self, id: &mut KnownId, step: Step, change: impl FnOnce(&mut State)) {
        if self.follow(id, step) {
            return;
        }
        let before = *id;
        let is_alone = self.own(id);
        let state = self.state_mut(*id);
        state.oldest = None;
        change(state);
        if !is_alone {
            self.link(before, step, *id);
        }
    }

    /// Follows a link.
    fn follow(&mut self, id: &mut KnownId, step: Step) -> bool {
        let links = &self.state(*id).links;
        let link = links.iter().find(|(of, _)| *of == step);
        let Some(to) = link.and_then(|(_, mark)| self.marked(*mark).map(|_| mark.id)) else {
            return false;
        };
        self.join(id, to);
        true
    }

    /// Makes `id` a state that nobody else is in and no mark leads to, equal to what it was. Returns
    /// whether it is the same one. If not, the client is still a user of the other, too.
    fn own(&mut self, id: &mut KnownId) -> bool {
        let send = self.send;
        let state = self.state_mut(*id);
        if state.users == 1 && send.since(state.marked) > 1 {
            state.version = state.version.wrapping_add(2);
            state.links.clear();
            return true;
        }
        let copy = self.add();
        let both = [copy, *id].map(|id| id.0 as usize);
        if let Ok([copy, from]) = self.states.get_disjoint_mut(both) {
            copy.known.copy_from(&from.known);
        }
        *id = copy;
        false
    }

    /// Lets those who take a step from a state find where it leads to, and leaves that state.
    fn link(&mut self, from: KnownId, step: Step, to: KnownId) {
        if let Some(mark) = self.mark(to, true) {
            let links = &mut self.state_mut(from).links;
            links.retain(|(of, _)| *of != step);
            links.push((step, mark));
        }
        self.leave(from);
    }

    /// Goes over to another state.
    fn join(&mut self, id: &mut KnownId, to: KnownId) {
        self.state_mut(to).users += 1;
        self.leave(*id);
        *id = to;
    }

    /// A mark of a state. Alone it is not left for others, but where all meet.
    fn mark(&mut self, id: KnownId, is_shared: bool) -> Option<Mark> {
        let send = self.send;
        let is_kept = is_shared || send.0.is_multiple_of(MEETING);
        let state = self.state_mut(id);
        if is_kept {
            state.marked = send;
        }
        let version = state.version;
        is_kept.then_some(Mark { id, version })
    }

    /// The state of a mark, if it is as it was then.
    fn marked(&self, mark: Mark) -> Option<&State> {
        Some(self.state(mark.id)).filter(|state| state.version == mark.version)
    }

    /// A state with one user, which holds whatever it held.
    fn add(&mut self) -> KnownId {
        let id = self.free.pop_front().unwrap_or_else(|| {
            let id = u32::try_from(self.states.len()).unwrap_or(u32::MAX);
            self.states.push(State {
                // What happens seldom needs its memory before it happens.
                survey: Survey::with_room(ENTERING_MAX),
                first: Vec::with_capacity(ENTERING_MAX),
                version: 1,
                ..State::default()
            });
            KnownId(id)
        });
        let state = self.state_mut(id);
        state.version = state.version.wrapping_add(1);
        state.users = 1;
        state.marked = SendIndex::NONE;
        id
    }

    /// How many states there have ever been at once.
    #[cfg(test)]
    pub(super) const fn len(&self) -> usize {
        self.states.len()
    }

    fn state(&self, id: KnownId) -> &State {
        let state = self.states.get(id.0 as usize);
        state.expect("ids are given out with their states")
    }

    fn state_mut(&mut self, id: KnownId) -> &mut State {
        let state = self.states.get_mut(id.0 as usize);
        state.expect("ids are given out with their states")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two clients that know the same.
    fn pair(knowledge: &mut Knowledge) -> [KnownId; 2] {
        let one = knowledge.enter();
        let mut other = knowledge.enter();
        knowledge.join(&mut other, one);
        [one, other]
    }

    fn acknowledge(knowledge: &mut Knowledge, id: &mut KnownId) {
        let record = (SendIndex(10), RecordIndex(0));
        knowledge.acknowledge(id, record, &[BlockNumber(0)]);
    }

    #[test]
    fn who_takes_the_same_step_follows_and_who_takes_another_does_not() {
        let mut knowledge = Knowledge::default();
        knowledge.begin(SendIndex(10));
        let [mut one, mut other] = pair(&mut knowledge);
        acknowledge(&mut knowledge, &mut one);
        assert_ne!(one, other);
        acknowledge(&mut knowledge, &mut other);
        assert_eq!(one, other);
        knowledge.mark_sent(&mut one, RecordIndex(1), &[]);
        knowledge.mark_sent(&mut other, RecordIndex(2), &[]);
        assert_ne!(one, other);
    }

    #[test]
    fn nobody_follows_to_what_has_changed_since() {
        let mut knowledge = Knowledge::default();
        knowledge.begin(SendIndex(10));
        let [mut one, mut late] = pair(&mut knowledge);
        acknowledge(&mut knowledge, &mut one);
        (11..14).for_each(|send| knowledge.begin(SendIndex(send)));
        let before = one;
        knowledge.change(&mut one).forget();
        assert_eq!(one, before, "alone, it changes in place");
        acknowledge(&mut knowledge, &mut late);
        assert_ne!(one, late);
    }

    #[test]
    fn what_nobody_knows_is_used_again_after_a_send() {
        let mut knowledge = Knowledge::default();
        for send in 1..100 {
            knowledge.begin(SendIndex(send));
            let pair = pair(&mut knowledge);
            for mut id in pair {
                knowledge.mark_sent(&mut id, RecordIndex(0), &[]);
                acknowledge(&mut knowledge, &mut id);
                knowledge.leave(id);
            }
        }
        // Four a send: two that entered, what was sent, what was acknowledged.
        assert!(knowledge.len() <= 12, "{}", knowledge.len());
    }
}
