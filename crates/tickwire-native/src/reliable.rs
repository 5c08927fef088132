//! What must arrive exactly once, over connections that break.
//!
//! Frames that are *kept* are counted by both sides. The sender keeps each until the other side says that it
//! has processed so many; when a connection was resumed, the other side says how far it came, and what it
//! lacks is sent again. Frames that concern one connection only (pieces, datagrams, ends) are not kept.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_session::{Backlog, Room};
use tickwire_wire::{Full, Serial as _};

use crate::limits::FRAME_MAX;

/// How many kept frames are processed before the other side is told.
pub(crate) const RECEIVED_EVERY: u32 = 32;

/// Frames for the other side.
#[derive(Debug)]
pub(crate) struct Outbox {
    backlog: Backlog,
    /// Kept frames that the other side may not have, end to end, oldest first: many are a few bytes long,
    /// and who never confirms them must not cost much more than these.
    unconfirmed: VecDeque<u8>,
    /// How long each of them is. The last is number `pushed`.
    lengths: VecDeque<u32>,
    pushed: u32,
    /// The last one that went out on an earlier connection.
    sent_before: u32,
    resent: u64,
    most: usize,
    /// The other side knows who this is: kept frames may go out.
    is_open: bool,
}

/// The other side counts more kept frames than there were.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct NeverSent;

impl Outbox {
    /// Nothing waits, and there is no connection. At most `most` bytes will be kept, and one frame more wait.
    pub(crate) const fn new(most: usize) -> Self {
        Self {
            backlog: backlog(most),
            unconfirmed: VecDeque::new(),
            lengths: VecDeque::new(),
            pushed: 0,
            sent_before: 0,
            resent: 0,
            most,
            is_open: false,
        }
    }

    /// Queues a frame that is kept. Without a connection it goes out with [`resume`](Self::resume).
    pub(crate) fn keep(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Result<(), Full> {
        let mut frame = Vec::new();
        encode(&mut frame);
        let length = u32::try_from(frame.len()).map_err(|_| Full)?;
        if self.unconfirmed.len() + frame.len() > self.most {
            return Err(Full);
        }
        if self.is_open {
            self.push(|out| out.extend_from_slice(&frame))?;
        }
        self.pushed = self.pushed.wrapping_add(1);
        self.lengths.push_back(length);
        self.unconfirmed.extend(frame);
        Ok(())
    }

    /// Queues a frame for this connection.
    pub(crate) fn push(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Result<(), Full> {
        self.backlog.push(|out| {
            encode(out);
            Ok(())
        })
    }

    /// The other side has processed so many kept frames in all.
    pub(crate) fn confirm(&mut self, received: u32) -> Result<(), NeverSent> {
        let behind = usize::try_from(self.pushed.steps_since(received));
        let confirmed = behind
            .ok()
            .and_then(|left| self.lengths.len().checked_sub(left));
        let lengths = self.lengths.drain(..confirmed.ok_or(NeverSent)?);
        let bytes: usize = lengths.map(|length| length as usize).sum();
        self.unconfirmed.drain(..bytes);
        Ok(())
    }

    /// The connection broke: what waits is of no use to the next one.
    pub(crate) fn disconnect(&mut self) {
        self.backlog = backlog(self.most);
        if core::mem::take(&mut self.is_open) {
            self.sent_before = self.pushed;
        }
    }

    /// There is a connection, and the other side has processed so many kept frames: what it lacks is sent,
    /// behind what was pushed since [`disconnect`](Self::disconnect).
    pub(crate) fn resume(&mut self, received: u32) -> Result<(), NeverSent> {
        self.confirm(received)?;
        let never_sent = self.pushed.steps_since(self.sent_before);
        let never_sent = usize::try_from(never_sent).unwrap_or(0);
        self.resent += self.lengths.len().saturating_sub(never_sent) as u64;
        self.is_open = true;
        let (first, second) = self.unconfirmed.as_slices();
        let pushed = self.backlog.push(|out| {
            out.extend_from_slice(first);
            out.extend_from_slice(second);
            Ok(())
        });
        debug_assert!(pushed.is_ok(), "what may be kept may wait");
        Ok(())
    }

    /// Kept frames that were sent again.
    pub(crate) const fn resent(&self) -> u64 {
        self.resent
    }

    /// Bytes that wait.
    pub(crate) const fn waiting(&self) -> usize {
        self.backlog.waiting()
    }

    /// Moves what a stream with so much room takes to `out`, if anything.
    pub(crate) fn write(&mut self, room: u32, out: &mut Vec<u8>) -> Option<usize> {
        self.backlog.set_room(Room {
            bytes: room,
            ..Room::CLOSED
        });
        self.backlog.write(out)
    }
}

/// All that may be kept fits behind one other frame, such as a Welcome.
const fn backlog(most: usize) -> Backlog {
    Backlog::new(most + FRAME_MAX)
}

/// Counts the kept frames of the other side.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    received: u32,
    told: u32,
}

impl Counted {
    /// A kept frame was processed. Returns the count, if the other side is to be told.
    pub(crate) fn add(&mut self) -> Option<u32> {
        self.received = self.received.wrapping_add(1);
        let is_due = self.received.wrapping_sub(self.told) >= RECEIVED_EVERY;
        is_due.then(|| {
            self.told = self.received;
            self.received
        })
    }

    /// How many were processed.
    pub(crate) const fn received(&self) -> u32 {
        self.received
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use proptest::prelude::*;

    use super::*;

    fn connected(most: usize) -> Outbox {
        let mut outbox = Outbox::new(most);
        outbox.resume(0).unwrap();
        outbox
    }

    fn keep(outbox: &mut Outbox, byte: u8) {
        outbox.keep(|out| out.push(byte)).unwrap();
    }

    fn written(outbox: &mut Outbox) -> Vec<u8> {
        let mut out = Vec::new();
        outbox.write(u32::MAX, &mut out);
        out
    }

    #[test]
    fn what_the_other_side_lacks_is_sent_again() {
        let mut outbox = connected(100);
        (1..=3).for_each(|byte| keep(&mut outbox, byte));
        outbox.push(|out| out.push(9)).unwrap();
        assert_eq!(written(&mut outbox), [1, 2, 3, 9]);
        outbox.disconnect();
        outbox.push(|out| out.push(8)).unwrap();
        outbox.resume(1).unwrap();
        keep(&mut outbox, 4);
        assert_eq!(written(&mut outbox), [8, 2, 3, 4]);
        assert_eq!(outbox.resent(), 2);
    }

    #[test]
    fn what_is_kept_before_there_is_a_connection_goes_out_once() {
        let mut outbox = Outbox::new(100);
        keep(&mut outbox, 1);
        outbox.push(|out| out.push(9)).unwrap();
        keep(&mut outbox, 2);
        assert_eq!(written(&mut outbox), [9]);
        outbox.resume(0).unwrap();
        assert_eq!(written(&mut outbox), [1, 2]);
        assert_eq!(outbox.resent(), 0);
    }

    #[test]
    fn a_count_that_cannot_be_is_refused_and_changes_nothing() {
        let mut outbox = connected(100);
        (1..=3).for_each(|byte| keep(&mut outbox, byte));
        outbox.confirm(2).unwrap();
        for received in [1, 4, u32::MAX] {
            assert_eq!(outbox.confirm(received), Err(NeverSent));
        }
        outbox.disconnect();
        outbox.resume(2).unwrap();
        assert_eq!(written(&mut outbox), [3]);
    }

    #[test]
    fn what_is_kept_is_bounded_even_if_all_of_it_was_written() {
        let mut outbox = connected(10);
        for byte in 0..10 {
            keep(&mut outbox, byte);
            written(&mut outbox);
        }
        assert_eq!(outbox.keep(|out| out.push(10)), Err(Full));
        outbox.confirm(4).unwrap();
        keep(&mut outbox, 10);
    }

    #[test]
    fn whoever_lacks_all_that_may_be_kept_is_sent_it() {
        let mut outbox = Outbox::new(10);
        (0..10).for_each(|byte| keep(&mut outbox, byte));
        outbox.push(|out| out.push(99)).unwrap();
        outbox.resume(0).unwrap();
        assert_eq!(written(&mut outbox), [99, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    proptest! {
        #[test]
        fn each_kept_frame_arrives_once_and_in_order(
            steps in proptest::collection::vec((any::<bool>(), 0..4_usize), 1..60),
        ) {
            let mut outbox = connected(10_000);
            let (mut counted, mut heard, mut told) = (Counted::default(), vec![], vec![]);
            for (step, (breaks, arriving)) in (0_u8..).zip(steps) {
                keep(&mut outbox, step);
                told.push(step);
                // Only the first bytes of what is under way arrive before a break.
                let mut out = written(&mut outbox);
                if breaks {
                    out.truncate(arriving);
                }
                for byte in out {
                    heard.push(byte);
                    if let Some(count) = counted.add() {
                        outbox.confirm(count).unwrap();
                    }
                }
                if breaks {
                    outbox.disconnect();
                    outbox.resume(counted.received()).unwrap();
                }
            }
            heard.extend(written(&mut outbox));
            prop_assert_eq!(heard, told);
        }
    }
}
