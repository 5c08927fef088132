//! What waits to be sent on one path, and how it becomes payloads.
//!
//! Objects wait with the moment they speak of. A payload speaks of one moment only, so objects share
//! one as long as their moments are the same: nearly always, since a game publishes a step at a time.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_session::Room;

use super::Writer;
use super::fifo;
use super::limits::PAYLOAD_MAX;
use super::message::{Object, PayloadWriter};

/// Whether a datagram path takes payloads of any length.
pub(crate) fn takes_payloads(room: Room) -> bool {
    usize::from(room.largest) >= PAYLOAD_MAX
}

/// Objects that wait, in order; some of them together. Their bytes lie end to end in one buffer, so that
/// waiting allocates nothing once that has grown.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    entries: VecDeque<Entry>,
    /// The bytes of all entries, behind those of some that are gone.
    bytes: Vec<u8>,
    gone: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    timestamp: u32,
    length: usize,
    /// Objects in it: those stay together.
    count: u64,
}

impl Queue {
    pub(crate) fn push(&mut self, timestamp: u32, object: &Object<'_>) {
        let before = self.bytes.len();
        object.encode(&mut Writer::new(&mut self.bytes, usize::MAX));
        let length = self.bytes.len() - before;
        self.wait(timestamp, length, 1);
    }

    /// The same for an object that is encoded already, or several that fit a payload together.
    pub(crate) fn push_encoded(&mut self, timestamp: u32, objects: &[u8], count: u64) {
        self.bytes.extend_from_slice(objects);
        self.wait(timestamp, objects.len(), count);
    }

    fn wait(&mut self, timestamp: u32, length: usize, count: u64) {
        self.entries.push_back(Entry {
            timestamp,
            length,
            count,
        });
    }

    /// Drops what waits longest, and returns how many objects that is.
    pub(crate) fn drop_oldest(&mut self) -> u64 {
        self.pop().map_or(0, |gone| gone.count)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of all entries.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes.len() - self.gone
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The moment of the next entry.
    pub(crate) fn timestamp(&self) -> Option<u32> {
        self.entries.front().map(|entry| entry.timestamp)
    }

    /// Moves entries of the next one's moment into a payload that speaks of it, as many as fit.
    /// Returns how many objects that are.
    pub(crate) fn fill(&mut self, payload: &mut PayloadWriter<'_>) -> u64 {
        let timestamp = self.timestamp();
        let mut moved = 0;
        while let Some(next) = self.entries.front()
            && Some(next.timestamp) == timestamp
            && let Some(objects) = self.bytes.get(self.gone..self.gone + next.length)
            && payload.push_encoded(objects).is_ok()
        {
            moved += next.count;
            self.pop();
        }
        moved
    }

    fn pop(&mut self) -> Option<Entry> {
        let gone = fifo::pop(&mut self.entries)?;
        self.gone += gone.length;
        // Moving the rest costs no more than writing what is gone did.
        if self.gone * 2 >= self.bytes.len() {
            self.bytes.drain(..self.gone);
            self.gone = 0;
        }
        Some(gone)
    }
}

/// The sending side of a stream.
///
/// A stream may take less than a payload at a time, so the one that is being written is held. What
/// waits behind it is still objects.
#[derive(Debug, Default)]
pub(crate) struct StreamOut {
    queue: Queue,
    payload: Vec<u8>,
    /// How much of `payload` was handed over.
    written: usize,
    /// The most room there ever was: that of a stream which has passed on everything.
    most_room: u32,
}

impl StreamOut {
    pub(crate) fn push(&mut self, timestamp: u32, object: &Object<'_>) {
        self.queue.push(timestamp, object);
    }

    pub(crate) fn push_encoded(&mut self, timestamp: u32, object: &[u8]) {
        self.queue.push_encoded(timestamp, object, 1);
    }

    /// Bytes that wait.
    pub(crate) const fn waiting(&self) -> usize {
        self.queue.bytes() + self.payload.len() - self.written
    }

    /// Whether everything was handed over.
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.written == self.payload.len()
    }

    /// Whether everything was handed over, and a stream with this room has passed it on.
    pub(crate) fn is_clear(&mut self, room: u32) -> bool {
        self.most_room = self.most_room.max(room);
        self.is_idle() && room == self.most_room && room > 0
    }

    /// Begins an empty payload, unless there is something to say anyway.
    pub(crate) fn keep_alive(&mut self, timestamp: u32) {
        if self.is_idle() {
            self.begin(timestamp, |_| 0);
        }
    }

    /// Hands over as much as there is room for of the payload under way, or of the next. Returns how
    /// many objects are in a payload that was begun; `None` if nothing was handed over.
    pub(crate) fn write(&mut self, room: u32, out: &mut Vec<u8>) -> Option<u64> {
        let mut objects = 0;
        if self.written == self.payload.len()
            && room > 0
            && let Some(timestamp) = self.queue.timestamp()
        {
            let mut queue = core::mem::take(&mut self.queue);
            objects = self.begin(timestamp, |payload| queue.fill(payload));
            self.queue = queue;
        }
        let rest = self.payload.get(self.written..).unwrap_or_default();
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let part = rest.get(..room).unwrap_or(rest);
        if part.is_empty() {
            return None;
        }
        out.extend_from_slice(part);
        self.written += part.len();
        Some(objects)
    }

    fn begin(&mut self, timestamp: u32, fill: impl FnOnce(&mut PayloadWriter<'_>) -> u64) -> u64 {
        self.payload.clear();
        self.written = 0;
        let mut payload = PayloadWriter::new(&mut self.payload, timestamp);
        let objects = fill(&mut payload);
        payload.finish();
        objects
    }
}
