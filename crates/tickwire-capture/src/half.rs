//! One direction of a TCP stream, put together from its segments.
//!
//! In: segments in any order, repeated, overlapping, some missing. Out: its bytes in order, each once, and gaps where
//! they are missing. What waits for a missing piece is bounded; when it is too much, or the stream ends, the piece is
//! said to be missing and reading goes on behind it.

use std::collections::BTreeMap;

use crate::limits::HELD;
use crate::packet::Flags;

/// What comes out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Piece<'a> {
    /// The first byte that follows is the stream's first.
    Begin,
    Bytes(&'a [u8]),
    /// So many bytes are missing.
    Gap(u64),
    End,
}

#[derive(Debug, Default)]
pub(crate) struct Half {
    /// The sequence number of the next byte, and which byte of the stream that is; `None` before the first segment.
    next: Option<(u32, u64)>,
    /// What waits for something in front of it, by its place in the stream.
    held: BTreeMap<u64, Vec<u8>>,
    held_bytes: usize,
    /// Where the stream ends.
    end: Option<u64>,
    is_over: bool,
    /// Segments that brought nothing new.
    pub(crate) resent: u64,
}

impl Half {
    /// Bytes that wait.
    pub(crate) const fn held(&self) -> usize {
        self.held_bytes
    }

    /// Whether it has ended.
    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes a segment.
    pub(crate) fn add(
        &mut self,
        seq: u32,
        flags: Flags,
        bytes: &[u8],
        out: &mut dyn FnMut(Piece<'_>),
    ) {
        let mut seq = seq;
        if flags.syn {
            seq = seq.wrapping_add(1);
            // The same SYN again changes nothing; another one is another stream on the same ports.
            if self
                .next
                .is_none_or(|(next, at)| next.wrapping_sub(wrapped(at)) != seq)
            {
                self.finish(out);
                *self = Self {
                    next: Some((seq, 0)),
                    resent: self.resent,
                    ..Self::default()
                };
                out(Piece::Begin);
            }
        }
        let (next, at) = *self.next.get_or_insert((seq, 0));
        let ahead = i64::from(seq.wrapping_sub(next).cast_signed());
        // Places behind the beginning of what was captured are old by any account.
        let place = i128::from(at) + i128::from(ahead);
        let end = place + bytes.len() as i128;
        if flags.fin && end >= 0 {
            self.end = u64::try_from(end).ok();
        }
        if !bytes.is_empty() {
            let old = usize::try_from(i128::from(at) - place).unwrap_or(0);
            match bytes.get(old..) {
                None | Some([]) => self.resent += 1,
                Some(new) => {
                    self.resent += u64::from(old > 0);
                    self.take(place.max(at.into()), new, out);
                }
            }
        }
        if self.held_bytes > HELD {
            self.skip(out);
        }
        if flags.rst {
            self.finish(out);
        }
        self.end_if_done(out);
    }

    fn take(&mut self, place: i128, bytes: &[u8], out: &mut dyn FnMut(Piece<'_>)) {
        let Ok(place) = u64::try_from(place) else {
            return;
        };
        if self.at() == place {
            self.deliver(bytes, out);
            self.drain(out);
            return;
        }
        let before = self.held.get(&place).map_or(0, Vec::len);
        if before >= bytes.len() {
            self.resent += 1;
            return;
        }
        self.held_bytes += bytes.len() - before;
        self.held.insert(place, bytes.to_vec());
    }

    /// Which byte of the stream comes next.
    fn at(&self) -> u64 {
        self.next.map_or(0, |(_, at)| at)
    }

    fn deliver(&mut self, bytes: &[u8], out: &mut dyn FnMut(Piece<'_>)) {
        self.advance(bytes.len() as u64);
        out(Piece::Bytes(bytes));
    }

    fn advance(&mut self, count: u64) {
        if let Some((next, at)) = &mut self.next {
            *next = next.wrapping_add(wrapped(count));
            *at += count;
        }
    }

    /// Delivers what waited for what is there.
    fn drain(&mut self, out: &mut dyn FnMut(Piece<'_>)) {
        while let Some(first) = self.held.first_entry() {
            let at = self.next.map_or(0, |(_, at)| at);
            let Some(old) = at.checked_sub(*first.key()) else {
                return;
            };
            let bytes = first.remove();
            self.held_bytes -= bytes.len();
            let old = usize::try_from(old).unwrap_or(usize::MAX);
            if let Some(new) = bytes.get(old..).filter(|new| !new.is_empty()) {
                self.deliver(new, out);
            }
        }
    }

    /// Gives up waiting for the piece in front of what is held.
    pub(crate) fn skip(&mut self, out: &mut dyn FnMut(Piece<'_>)) {
        if let Some((&place, _)) = self.held.first_key_value() {
            let missing = place.saturating_sub(self.at());
            self.advance(missing);
            out(Piece::Gap(missing));
            self.drain(out);
        }
    }

    /// Nothing more comes.
    pub(crate) fn finish(&mut self, out: &mut dyn FnMut(Piece<'_>)) {
        while !self.held.is_empty() {
            self.skip(out);
        }
        if let Some(missing) = self.end.and_then(|end| end.checked_sub(self.at()))
            && missing > 0
            && !self.is_over
        {
            self.advance(missing);
            out(Piece::Gap(missing));
        }
        if self.next.is_some() && !self.is_over {
            self.is_over = true;
            out(Piece::End);
        }
    }

    fn end_if_done(&mut self, out: &mut dyn FnMut(Piece<'_>)) {
        if self.end.is_some_and(|end| end <= self.at()) {
            self.finish(out);
        }
    }
}

/// The part of a place in a stream that a sequence number has.
const fn wrapped(at: u64) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "sequence numbers wrap")]
    let wrapped = at as u32;
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: Flags = Flags {
        ack: true,
        syn: false,
        psh: false,
        fin: false,
        rst: false,
    };
    const SYN: Flags = Flags { syn: true, ..DATA };
    const FIN: Flags = Flags { fin: true, ..DATA };
    const RST: Flags = Flags { rst: true, ..DATA };

    /// What comes out of these segments, as words.
    fn read(segments: &[(u32, Flags, &[u8])]) -> (Vec<String>, Half) {
        let (mut half, mut words) = (Half::default(), Vec::new());
        for (seq, flags, bytes) in segments {
            half.add(*seq, *flags, bytes, &mut |piece| words.push(word(piece)));
        }
        (words, half)
    }

    fn word(piece: Piece<'_>) -> String {
        match piece {
            Piece::Begin => "begin".into(),
            Piece::Bytes(bytes) => String::from_utf8_lossy(bytes).into(),
            Piece::Gap(missing) => format!("{missing} missing"),
            Piece::End => "end".into(),
        }
    }

    #[track_caller]
    fn check(segments: &[(u32, Flags, &[u8])], expected: &[&str]) {
        assert_eq!(read(segments).0, expected);
    }

    #[test]
    fn segments_in_order_are_the_stream() {
        check(
            &[(9, SYN, b""), (10, DATA, b"ab"), (12, FIN, b"c")],
            &["begin", "ab", "c", "end"],
        );
    }

    #[test]
    fn segments_out_of_order_wait_for_those_in_front() {
        let segments: [(u32, Flags, &[u8]); 4] = [
            (9, SYN, b""),
            (14, FIN, b"ef"),
            (12, DATA, b"cd"),
            (10, DATA, b"ab"),
        ];
        check(&segments, &["begin", "ab", "cd", "ef", "end"]);
    }

    #[test]
    fn what_was_there_already_is_counted_and_left_out() {
        let (words, half) = read(&[
            (9, SYN, b""),
            (9, SYN, b""),
            (10, DATA, b"abc"),
            (10, DATA, b"ab"),
            (11, DATA, b"bcde"),
            (20, DATA, b"zz"),
            (20, DATA, b"zz"),
        ]);
        assert_eq!(words, ["begin", "abc", "de"]);
        assert_eq!(half.resent, 3);
    }

    #[test]
    fn what_never_came_is_a_gap() {
        check(
            &[
                (9, SYN, b""),
                (10, DATA, b"ab"),
                (15, DATA, b"fg"),
                (17, RST, b""),
            ],
            &["begin", "ab", "3 missing", "fg", "end"],
        );
        check(
            &[
                (9, SYN, b""),
                (10, DATA, b"ab"),
                (15, FIN, b""),
                (0, RST, b""),
            ],
            &["begin", "ab", "3 missing", "end"],
        );
    }

    #[test]
    fn numbers_wrap() {
        check(
            &[
                (u32::MAX - 2, SYN, b""),
                (u32::MAX - 1, DATA, b"abcd"),
                (2, DATA, b"ef"),
            ],
            &["begin", "abcd", "ef"],
        );
    }

    #[test]
    fn a_stream_is_followed_from_wherever_it_was_first_seen() {
        check(
            &[(700, DATA, b"ab"), (650, DATA, b"old"), (702, DATA, b"c")],
            &["ab", "c"],
        );
    }

    #[test]
    fn another_stream_on_the_same_ports_begins_anew() {
        check(
            &[
                (9, SYN, b""),
                (10, DATA, b"ab"),
                (900, SYN, b""),
                (901, DATA, b"c"),
            ],
            &["begin", "ab", "end", "begin", "c"],
        );
    }

    #[test]
    fn what_waits_is_bounded() {
        let (mut half, mut words) = (Half::default(), Vec::new());
        let mut out = |piece: Piece<'_>| {
            if let Piece::Gap(missing) = piece {
                words.push(missing);
            }
        };
        half.add(0, SYN, b"", &mut out);
        let piece = vec![0; 60_000];
        for number in 0..2 * HELD / piece.len() {
            let seq = 100 + u32::try_from(number * piece.len()).expect("it is small");
            half.add(seq, DATA, &piece, &mut out);
            assert!(half.held() <= HELD);
        }
        assert_eq!(words, [99]);
    }
}
