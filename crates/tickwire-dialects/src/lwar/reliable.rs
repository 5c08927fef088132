//! Numbering, repeating and acknowledging reliable messages.
//!
//! [`Outbox`] keeps what the peer has not acknowledged, encoded, and writes it into every packet
//! from the oldest on. [`Inbox`] takes messages in order, each once. Neither knows what the messages
//! say.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_session::Instant;
use tickwire_wire::Serial;

use super::Writer;
use super::message::Reliable;

/// Reliable messages on their way to a peer.
#[derive(Clone, Debug)]
pub(crate) struct Outbox {
    waiting: VecDeque<Waiting>,
    /// The waiting messages' bytes, one after another.
    bytes: VecDeque<u8>,
    /// Number of the first waiting message, or of the next one if none waits.
    oldest: u32,
    /// How many of the waiting messages were sent at least once: always the first ones.
    sent: usize,
    scratch: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    length: usize,
    first_sent: Option<Instant>,
    repeated: bool,
}

/// What a packet got.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Written {
    pub(crate) messages: u64,
    /// How many of them had been sent before.
    pub(crate) repeated: u64,
}

/// What an acknowledgement changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Acked {
    /// Nothing: known already.
    Nothing,
    /// Messages arrived.
    Progress(Sent),
    /// It names a message that was never sent.
    NeverSent,
}

/// How the newest message that arrived had been sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Sent {
    pub(crate) first: Instant,
    /// Whether it was sent again later, so that nobody knows which sending arrived.
    pub(crate) repeated: bool,
}

impl Outbox {
    pub(crate) const fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            bytes: VecDeque::new(),
            oldest: 1,
            sent: 0,
            scratch: Vec::new(),
        }
    }

    /// How many messages wait for acknowledgement.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Bytes of those messages.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The number that the next message gets.
    pub(crate) fn next(&self) -> u32 {
        self.oldest
            .wrapping_add(u32::try_from(self.waiting.len()).unwrap_or(u32::MAX))
    }

    /// Whether message `seq` has been sent at least once.
    pub(crate) fn has_sent(&self, seq: u32) -> bool {
        let sent = u32::try_from(self.sent).unwrap_or(u32::MAX);
        seq.is_older_than(self.oldest.wrapping_add(sent))
    }

    /// Whether message `seq` has been acknowledged.
    pub(crate) fn has_acked(&self, seq: u32) -> bool {
        seq.is_older_than(self.oldest)
    }

    /// Queues a message and returns its number.
    pub(crate) fn push(&mut self, message: &Reliable<'_>) -> u32 {
        let mut encoded = core::mem::take(&mut self.scratch);
        encoded.clear();
        message.encode(0, &mut Writer::new(&mut encoded, usize::MAX));
        let seq = self.push_encoded(&encoded);
        self.scratch = encoded;
        seq
    }

    /// Queues a message in wire form, whatever number stands in it, and returns its number.
    pub(crate) fn push_encoded(&mut self, message: &[u8]) -> u32 {
        let seq = self.next();
        // The number stands behind the id in every reliable message.
        let (id, rest) = message.split_at(message.len().min(1));
        self.bytes.extend(id);
        self.bytes.extend(seq.to_be_bytes());
        self.bytes.extend(rest.iter().skip(size_of::<u32>()));
        self.waiting.push_back(Waiting {
            length: message.len(),
            first_sent: None,
            repeated: false,
        });
        seq
    }

    /// Forgets what was never sent; its numbers are given again.
    pub(crate) fn drop_unsent(&mut self) {
        let unsent: usize = self
            .waiting
            .drain(self.sent..)
            .map(|waiting| waiting.length)
            .sum();
        self.bytes.truncate(self.bytes.len().saturating_sub(unsent));
    }

    /// Forgets what waits, as if it had been acknowledged, and keeps counting.
    pub(crate) fn clear(&mut self) {
        self.oldest = self.next();
        self.waiting.clear();
        self.bytes.clear();
        self.sent = 0;
    }

    /// Writes waiting messages, the oldest first, while they fit.
    pub(crate) fn write(&mut self, now: Instant, w: &mut Writer<'_>) -> Written {
        let mut rest = &*self.bytes.make_contiguous();
        let (mut fitted, mut repeated) = (0, 0);
        for waiting in &mut self.waiting {
            let Some((message, behind)) = rest.split_at_checked(waiting.length) else {
                break;
            };
            if w.whole(|w| w.bytes(message)).is_err() {
                break;
            }
            rest = behind;
            fitted += 1;
            match waiting.first_sent {
                None => waiting.first_sent = Some(now),
                Some(_) => {
                    waiting.repeated = true;
                    repeated += 1;
                }
            }
        }
        self.sent = self.sent.max(fitted);
        Written {
            messages: fitted as u64,
            repeated,
        }
    }

    /// Takes the number of the last message that the peer processed.
    pub(crate) fn acknowledge(&mut self, ack: u32) -> Acked {
        // Numbers do not wrap: at a hundred a second they last for sixteen months.
        let Some(newly) = ack.checked_sub(self.oldest) else {
            return Acked::Nothing;
        };
        let newly = usize::try_from(newly).map_or(usize::MAX, |newly| newly.saturating_add(1));
        if newly > self.sent {
            return Acked::NeverSent;
        }
        let Some(newest) = self.waiting.get(newly - 1).copied() else {
            return Acked::NeverSent;
        };
        let length: usize = self
            .waiting
            .drain(..newly)
            .map(|waiting| waiting.length)
            .sum();
        self.bytes.drain(..length.min(self.bytes.len()));
        self.oldest = ack.next();
        self.sent -= newly;
        match newest.first_sent {
            Some(first) => Acked::Progress(Sent {
                first,
                repeated: newest.repeated,
            }),
            None => Acked::NeverSent,
        }
    }
}

/// How far a peer's reliable messages were processed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inbox {
    processed: u32,
}

/// Where a reliable message stands in the order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Order {
    /// The one to process now.
    Next,
    /// Processed before.
    Repeated,
    /// One before it has not arrived.
    Early,
}

impl Inbox {
    /// What to acknowledge: the last number processed.
    pub(crate) const fn ack(self) -> u32 {
        self.processed
    }

    pub(crate) fn order(self, seq: u32) -> Order {
        match seq.steps_since(self.processed) {
            1 => Order::Next,
            2.. => Order::Early,
            _ => Order::Repeated,
        }
    }

    /// Everything up to `seq` counts as processed.
    pub(crate) const fn skip_to(&mut self, seq: u32) {
        self.processed = seq;
    }

    /// The message that came next is processed.
    pub(crate) fn advance(&mut self) {
        self.processed = self.processed.next();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lwar::{Id, PlayerId};

    const NOW: Instant = Instant::from_millis(5);

    fn leave(index: u16) -> Reliable<'static> {
        Reliable::Leave {
            player: PlayerId(Id {
                generation: 0,
                index,
            }),
        }
    }

    /// Bytes of one `leave`.
    const LEAVE: usize = 9;

    fn written(outbox: &mut Outbox, limit: usize) -> Vec<u8> {
        let mut out = Vec::new();
        outbox.write(NOW, &mut Writer::new(&mut out, limit));
        out
    }

    #[test]
    fn numbers_start_at_one() {
        let mut outbox = Outbox::new();
        assert_eq!((outbox.push(&leave(3)), outbox.push(&leave(4))), (1, 2));
        assert_eq!(
            written(&mut outbox, 512),
            [4, 0, 0, 0, 1, 0, 0, 0, 3, 4, 0, 0, 0, 2, 0, 0, 0, 4]
        );
    }

    #[test]
    fn what_does_not_fit_waits_and_nothing_overtakes_it() {
        let mut outbox = Outbox::new();
        outbox.push(&Reliable::Chat {
            player: PlayerId::SERVER,
            text: "a long story",
        });
        outbox.push(&leave(1));
        assert_eq!(written(&mut outbox, LEAVE), []);
        assert_eq!(written(&mut outbox, 512).len(), 10 + 12 + LEAVE);
    }

    #[test]
    fn repetition_ends_with_the_ack_and_is_counted() {
        let mut outbox = Outbox::new();
        outbox.push(&leave(1));
        outbox.push(&leave(2));
        let mut out = Vec::new();
        let mut write = |outbox: &mut Outbox| {
            out.clear();
            outbox.write(NOW, &mut Writer::new(&mut out, 512)).repeated
        };
        assert_eq!((write(&mut outbox), write(&mut outbox)), (0, 2));
        let (first, repeated) = (NOW, true);
        assert_eq!(
            outbox.acknowledge(1),
            Acked::Progress(Sent { first, repeated })
        );
        assert_eq!(write(&mut outbox), 1);
        assert_eq!(outbox.acknowledge(1), Acked::Nothing);
        assert_eq!(
            outbox.acknowledge(2),
            Acked::Progress(Sent { first, repeated })
        );
        assert!(outbox.is_empty());
        assert_eq!(outbox.next(), 3);
    }

    #[test]
    fn acks_of_what_was_never_sent_change_nothing() {
        let mut outbox = Outbox::new();
        assert_eq!(outbox.acknowledge(1), Acked::NeverSent);
        outbox.push(&leave(1));
        // Queued, but in no packet yet.
        assert_eq!(outbox.acknowledge(1), Acked::NeverSent);
        written(&mut outbox, 512);
        assert_eq!(outbox.acknowledge(2), Acked::NeverSent);
        assert_eq!(outbox.acknowledge(u32::MAX), Acked::NeverSent);
        assert_eq!(outbox.acknowledge(0), Acked::Nothing);
        assert_eq!(outbox.len(), 1);
    }

    #[test]
    fn what_was_never_sent_can_be_taken_back() {
        let mut outbox = Outbox::new();
        outbox.push(&leave(1));
        written(&mut outbox, 512);
        outbox.push(&leave(2));
        outbox.drop_unsent();
        assert_eq!(outbox.push(&Reliable::Disconnect), 2);
        assert_eq!(written(&mut outbox, 512).len(), LEAVE + 5);
    }

    #[test]
    fn clearing_keeps_the_count() {
        let mut outbox = Outbox::new();
        outbox.push(&leave(1));
        outbox.clear();
        assert_eq!(outbox.push(&leave(2)), 2);
        assert_eq!(written(&mut outbox, 512).len(), LEAVE);
    }

    #[test]
    fn messages_are_taken_in_order_and_once() {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.order(0), Order::Repeated);
        assert_eq!(inbox.order(2), Order::Early);
        assert_eq!(inbox.order(1), Order::Next);
        inbox.advance();
        assert_eq!(
            (inbox.order(1), inbox.order(2)),
            (Order::Repeated, Order::Next)
        );
        assert_eq!(inbox.ack(), 1);
    }
}
