//! Reliable messages that wait for a number.
//!
//! At most [`NUMBERED_MAX`](crate::lwar::limits::NUMBERED_MAX) messages to a client have numbers; what
//! the game says beyond that waits here. A message without a number may still be taken back, so a
//! client that was away for some seconds is told the outcome, not the history: an Add and its Remove
//! cancel each other, and of several Names or Selections of one player the last stands.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::lwar::message::Reliable;
use crate::lwar::{EntityId, PlayerId, Writer};

/// What waits, in the order in which it will be numbered.
#[derive(Debug, Default)]
pub(super) struct Unnumbered {
    messages: VecDeque<Message>,
    /// How many of the messages, the first ones, belong to the synchronisation.
    sync: usize,
}

/// A message in wire form, its number still 0.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) subject: Subject,
    pub(super) bytes: Vec<u8>,
}

/// What a later message may replace or cancel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Subject {
    Added(EntityId),
    NameOf(PlayerId),
    SelectionOf(PlayerId),
    Synced,
    Other,
}

impl Unnumbered {
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// How many wait, the synchronisation not counted.
    pub(super) fn behind_sync(&self) -> usize {
        self.messages.len() - self.sync
    }

    pub(super) fn push(&mut self, message: &Reliable<'_>) {
        if let Reliable::Remove { entity } = *message
            && let Some(at) = self.position(Subject::Added(entity))
        {
            self.messages.remove(at);
            self.sync -= usize::from(at < self.sync);
            return;
        }
        let message = Message::new(message);
        let replaced = match message.subject {
            Subject::NameOf(_) | Subject::SelectionOf(_) => self.position(message.subject),
            _ => None,
        };
        match replaced.and_then(|at| self.messages.get_mut(at)) {
            Some(older) => *older = message,
            None => self.messages.push_back(message),
        }
    }

    /// Everything that waits now belongs to the synchronisation.
    pub(super) fn end_sync(&mut self) {
        self.sync = self.messages.len();
    }

    /// The message to be numbered next.
    pub(super) fn pop(&mut self) -> Option<Message> {
        self.sync = self.sync.saturating_sub(1);
        self.messages.pop_front()
    }

    fn position(&self, subject: Subject) -> Option<usize> {
        self.messages
            .iter()
            .position(|message| message.subject == subject)
    }
}

impl Message {
    fn new(message: &Reliable<'_>) -> Self {
        let mut bytes = Vec::new();
        message.encode(0, &mut Writer::new(&mut bytes, usize::MAX));
        let subject = match *message {
            Reliable::Add { entity, .. } => Subject::Added(entity),
            Reliable::Name { player, .. } => Subject::NameOf(player),
            Reliable::Selection { player, .. } => Subject::SelectionOf(player),
            Reliable::Synced => Subject::Synced,
            _ => Subject::Other,
        };
        Self { subject, bytes }
    }
}
