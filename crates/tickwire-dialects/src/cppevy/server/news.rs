//! Events for everybody that go by datagram, encoded once.
//!
//! A game that tells a thousand clients of every shot would otherwise write each into a thousand
//! queues. Here it lies once, in blocks that fit a payload, and a client only knows how far it has
//! heard. What a single client is told waits in its own queue, which goes first: so a client takes
//! what it has not heard over into that queue before something is said to it alone.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::super::limits::{HEADER, NEWS_BLOCKS, PAYLOAD_MAX};

#[derive(Debug, Default)]
pub(super) struct News {
    blocks: VecDeque<Block>,
    /// Blocks that were there before these.
    gone: u64,
    /// Nobody has heard of the last block yet, so that it may grow.
    is_open: bool,
}

/// Events of one moment, encoded one behind the other.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) timestamp: u32,
    pub(super) objects: Vec<u8>,
    pub(super) count: u64,
}

impl News {
    /// Adds an event. Above the bound the oldest are lost, as the network might lose them.
    pub(super) fn push(&mut self, timestamp: u32, object: &[u8]) {
        if let Some(last) = self.blocks.back_mut()
            && self.is_open
            && last.timestamp == timestamp
            && HEADER + last.objects.len() + object.len() <= PAYLOAD_MAX
        {
            last.objects.extend_from_slice(object);
            last.count += 1;
            return;
        }
        if self.blocks.len() == NEWS_BLOCKS {
            self.blocks.pop_front();
            self.gone += 1;
        }
        self.is_open = true;
        self.blocks.push_back(Block {
            timestamp,
            objects: object.into(),
            count: 1,
        });
    }

    /// What is there now is heard as it is; further events stand apart.
    pub(super) const fn close(&mut self) {
        self.is_open = false;
    }

    /// Everybody has heard everything.
    pub(super) fn clear(&mut self) {
        self.gone = self.end();
        self.blocks.clear();
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
    use super::*;

    /// What somebody hears who has heard so much: the moment and the bytes of every block.
    fn rest(news: &News, mut heard: u64) -> Vec<(u32, Vec<u8>)> {
        let mut rest = Vec::new();
        while let Some((block, after)) = news.after(heard) {
            heard = after;
            rest.push((block.timestamp, block.objects.clone()));
        }
        assert_eq!(heard, news.end());
        rest
    }

    #[test]
    fn events_of_a_moment_share_a_block_until_somebody_heard_it() {
        let mut news = News::default();
        for (timestamp, object) in [(1, b"a"), (1, b"b"), (2, b"c")] {
            news.push(timestamp, object);
        }
        let begin = news.end();
        news.close();
        news.push(2, b"d");
        let expected = [(1, b"ab".to_vec()), (2, b"c".to_vec()), (2, b"d".to_vec())];
        assert_eq!(rest(&news, 0), expected);
        assert_eq!(rest(&news, begin), expected[2..]);
        news.clear();
        assert_eq!(rest(&news, begin + 1), []);
        news.push(2, b"e");
        assert_eq!(rest(&news, begin + 1), [(2, b"e".to_vec())]);
    }

    #[test]
    fn a_block_fits_a_payload_and_there_are_only_so_many() {
        let mut news = News::default();
        let half = [0; (PAYLOAD_MAX - HEADER) / 2];
        for _ in 0..2 * NEWS_BLOCKS {
            news.push(1, &half);
        }
        let blocks = rest(&news, 0);
        assert_eq!(blocks.len(), NEWS_BLOCKS);
        assert!(
            blocks
                .iter()
                .all(|(_, block)| block.len() == 2 * half.len())
        );
        news.push(1, b"one more");
        let blocks = rest(&news, 0);
        assert_eq!(blocks.len(), NEWS_BLOCKS);
        assert_eq!(blocks[NEWS_BLOCKS - 1].1, b"one more");
    }
}
