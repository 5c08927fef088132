//! Events for everybody that go by datagram, encoded once.
//!
//! A game that tells a thousand clients of every shot would otherwise write each into a thousand
//! queues. Here it lies once, and a client only knows how far it has heard. What a single client is
//! told waits in its own queue, which goes first: so a client takes over into that queue what it has
//! not heard before an event is told to it alone. Only answers may pass events.

use alloc::collections::VecDeque;

use super::block::Block;
use crate::cppevy::limits::NEWS_WAITING;
use crate::cppevy::message::Object;

#[derive(Debug, Default)]
pub(super) struct News {
    blocks: VecDeque<Block>,
    /// Bytes of all of them.
    bytes: usize,
    /// Blocks that were there before these.
    gone: u64,
    /// Nobody has heard of the last block yet, so that it may grow.
    is_open: bool,
    /// Something was added since [`take_added`](Self::take_added) was last called.
    was_added: bool,
}

impl News {
    /// Adds an event, and returns how many of the oldest were lost for it.
    pub(super) fn push(&mut self, timestamp: u32, event: &Object<'_>) -> u64 {
        self.was_added = true;
        let last = self.blocks.back_mut();
        let open = last.filter(|last| self.is_open && last.timestamp == timestamp);
        let added = open.and_then(|block| {
            let before = block.objects.len();
            block.push(event).ok()?;
            Some(block.objects.len() - before)
        });
        self.bytes += added.unwrap_or_else(|| {
            let mut block = Block::new(timestamp);
            // Nothing is too long for a payload of its own.
            block.push(event).ok();
            let length = block.objects.len();
            self.is_open = true;
            self.blocks.push_back(block);
            length
        });
        let mut lost = 0;
        while self.bytes > NEWS_WAITING
            && let Some(oldest) = self.blocks.pop_front()
        {
            self.bytes -= oldest.objects.len();
            self.gone += 1;
            lost += oldest.count;
        }
        lost
    }

    /// What is there now is heard as it is; further events stand apart.
    pub(super) const fn close(&mut self) {
        self.is_open = false;
    }

    /// Whether something was added since this was last asked.
    pub(super) const fn take_added(&mut self) -> bool {
        core::mem::replace(&mut self.was_added, false)
    }

    /// Everybody has heard everything.
    pub(super) fn clear(&mut self) {
        self.gone = self.end();
        self.blocks.clear();
        self.bytes = 0;
    }

    /// How far somebody has heard who has heard everything.
    pub(super) fn end(&self) -> u64 {
        self.gone + self.blocks.len() as u64
    }

    /// The next block for somebody who has heard so much, and how much that is then.
    pub(super) fn after(&self, heard: u64) -> Option<(&Block, u64)> {
        let heard = heard.max(self.gone);
        let place = usize::try_from(heard - self.gone).ok()?;
        Some((self.blocks.get(place)?, heard + 1))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::cppevy::EventId;
    use crate::cppevy::limits::{DATA_MAX, HEADER, PAYLOAD_MAX};
    use crate::cppevy::message::Data;

    fn push(news: &mut News, timestamp: u32, data: &[u8]) -> u64 {
        let (event, data) = (EventId(0x0100), Data::new(data).unwrap());
        news.push(timestamp, &Object::Event { event, data })
    }

    /// What somebody hears who has heard so much: the moment and the events of every block.
    fn rest(news: &News, mut heard: u64) -> Vec<(u32, u64)> {
        let mut rest = Vec::new();
        while let Some((block, after)) = news.after(heard) {
            heard = after;
            assert!(HEADER + block.objects.len() <= PAYLOAD_MAX);
            rest.push((block.timestamp, block.count));
        }
        assert_eq!(heard, news.end());
        rest
    }

    #[test]
    fn events_of_a_moment_share_a_block_until_somebody_heard_it() {
        let mut news = News::default();
        for (timestamp, data) in [(1, b"a"), (1, b"b"), (2, b"c")] {
            push(&mut news, timestamp, data);
        }
        let begin = news.end();
        news.close();
        push(&mut news, 2, b"d");
        assert_eq!(rest(&news, 0), [(1, 2), (2, 1), (2, 1)]);
        assert_eq!(rest(&news, begin), [(2, 1)]);
        news.clear();
        assert_eq!(rest(&news, begin + 1), []);
        push(&mut news, 2, b"e");
        assert_eq!(rest(&news, begin + 1), [(2, 1)]);
    }

    #[test]
    fn above_the_bound_the_oldest_are_lost_and_counted() {
        let mut news = News::default();
        let longest = [0; DATA_MAX];
        let most = NEWS_WAITING / (DATA_MAX + 4);
        let lost: u64 = (0..2 * most).map(|_| push(&mut news, 1, &longest)).sum();
        let left: u64 = rest(&news, 0).iter().map(|(_, count)| count).sum();
        assert_eq!(left + lost, 2 * most as u64);
        assert!(
            left <= most as u64 && left > 3 * most as u64 / 4,
            "{left} of {most}"
        );
        // However small the blocks are.
        let mut news = News::default();
        for _ in 0..NEWS_WAITING / 5 {
            assert_eq!(push(&mut news, 1, b"x"), 0);
            news.close();
        }
        assert_eq!(push(&mut news, 1, b"x"), 1);
    }
}
