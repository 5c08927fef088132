//! Bytes that wait until their stream takes them.
//!
//! In: whole messages, encoded, and what the path has room for. Out: as many bytes as fit, in order. How
//! a message is framed, and what happens to a peer that does not read, is the protocol's.

use alloc::vec::Vec;

use tickwire_wire::Full;

use crate::Room;

/// What one stream has still to carry: never more than it was made for.
#[derive(Clone, Debug)]
pub struct Backlog {
    bytes: Vec<u8>,
    /// How many of them were taken.
    taken: usize,
    room: u32,
    most: usize,
}

impl Backlog {
    /// Nothing waits, and there is no room yet. At most `most` bytes will wait.
    pub const fn new(most: usize) -> Self {
        Self {
            bytes: Vec::new(),
            taken: 0,
            room: Room::CLOSED.bytes,
            most,
        }
    }

    /// What the path takes from now on.
    pub const fn set_room(&mut self, room: Room) {
        self.room = room.bytes;
    }

    /// Bytes that wait. Whoever has much to send adds to it only when it is short.
    pub const fn waiting(&self) -> usize {
        self.bytes.len() - self.taken
    }

    /// Queues what `encode` appends, or nothing if that fails or too much would wait.
    pub fn push(
        &mut self,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), Full>,
    ) -> Result<(), Full> {
        // What was taken gives way when it is the larger part, so that no byte is moved often.
        if self.taken > self.waiting() {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        let before = self.bytes.len();
        let pushed = encode(&mut self.bytes);
        if pushed.is_err() || self.waiting() > self.most {
            self.bytes.truncate(before);
            return Err(Full);
        }
        Ok(())
    }

    /// Moves what there is room for to `out`; returns how many bytes that is, if any.
    pub fn write(&mut self, out: &mut Vec<u8>) -> Option<usize> {
        let room = usize::try_from(self.room).unwrap_or(usize::MAX);
        let count = room.min(self.waiting());
        if count == 0 {
            return None;
        }
        let end = self.taken + count;
        out.extend_from_slice(self.bytes.get(self.taken..end).unwrap_or_default());
        self.taken = end;
        if end == self.bytes.len() {
            self.bytes.clear();
            self.taken = 0;
        }
        self.room -= u32::try_from(count).unwrap_or(self.room);
        Some(count)
    }

    /// The same on a path that takes so many bytes now.
    pub fn write_within(&mut self, room: u32, out: &mut Vec<u8>) -> Option<usize> {
        self.room = room;
        self.write(out)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn push(backlog: &mut Backlog, bytes: &[u8]) -> Result<(), Full> {
        backlog.push(|out| {
            out.extend_from_slice(bytes);
            Ok(())
        })
    }

    fn room(bytes: u32) -> Room {
        Room {
            bytes,
            ..Room::CLOSED
        }
    }

    #[test]
    fn what_is_pushed_comes_out_once_and_in_order_whatever_the_room() {
        let mut backlog = Backlog::new(100);
        let (mut sent, mut out) = (Vec::new(), Vec::new());
        for step in 0..200_u8 {
            let message = vec![step; usize::from(step % 7)];
            if push(&mut backlog, &message).is_ok() {
                sent.extend(message);
            }
            backlog.set_room(room(u32::from(step % 4)));
            backlog.write(&mut out);
            assert_eq!(out.len() + backlog.waiting(), sent.len());
        }
        backlog.set_room(room(u32::MAX));
        backlog.write(&mut out);
        assert_eq!(out, sent);
        assert_eq!(backlog.write(&mut out), None);
    }

    #[test]
    fn nothing_stays_of_what_does_not_fit_or_does_not_encode() {
        let mut backlog = Backlog::new(4);
        assert_eq!(push(&mut backlog, &[1; 4]), Ok(()));
        assert_eq!(push(&mut backlog, &[2]), Err(Full));
        let half = backlog.push(|out| {
            out.push(3);
            Err(Full)
        });
        assert_eq!(half, Err(Full));
        let mut out = Vec::new();
        assert_eq!(backlog.write(&mut out), None, "there is no room yet");
        backlog.set_room(room(9));
        assert_eq!(backlog.write(&mut out), Some(4));
        assert_eq!(out, [1; 4]);
    }
}
