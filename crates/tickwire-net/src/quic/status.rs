//! What a server says of itself to anybody who asks, before any handshake.
//!
//! A question is one datagram, padded by whoever asks; the answer is one datagram too, and always shorter
//! than the question, so that nobody can be drowned in answers by somebody who claims to be them. What
//! is asked by whom cannot be proved: there is nothing in it that is not public.
//!
//! ```text
//! question   0x00 "tickwire?"   number [8]   zeros
//! answer     0x00 "tickwire!"   number [8]   text in UTF-8
//! ```

use tickwire_session::{Instant, TokenBucket};

use crate::limits::{STATUS_ANSWERS, STATUS_REFILL};

const QUESTION: &[u8; 10] = b"\0tickwire?";
const ANSWER: &[u8; 10] = b"\0tickwire!";
const HEAD: usize = QUESTION.len() + size_of::<StatusNumber>();

/// Tells which question an answer belongs to.
pub type StatusNumber = [u8; 8];

/// A question of so many bytes, at least what it needs. The answer is shorter.
pub fn status_question(number: StatusNumber, length: usize) -> Vec<u8> {
    let mut question = [QUESTION.as_slice(), &number].concat();
    question.resize(length.max(HEAD), 0);
    question
}

/// What a server answered to the question of this number.
pub fn status_answer(number: StatusNumber, datagram: &[u8]) -> Option<&str> {
    let text = datagram.strip_prefix(ANSWER)?.strip_prefix(&number)?;
    str::from_utf8(text).ok()
}

/// What a server answers.
#[derive(Debug)]
pub(super) struct Status {
    pub(super) text: String,
    answers: TokenBucket,
}

impl Status {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            text: String::new(),
            answers: TokenBucket::new(now, STATUS_ANSWERS, STATUS_REFILL),
        }
    }

    /// Whether a datagram is a question. What QUIC sends looks like that once in 2^80 times.
    pub(super) fn is_asked(datagram: &[u8]) -> bool {
        datagram.len() >= HEAD && datagram.starts_with(QUESTION)
    }

    /// Appends the answer, if there is one: nothing is answered with as much as was asked, or too often.
    pub(super) fn answer(&mut self, now: Instant, question: &[u8], out: &mut Vec<u8>) -> bool {
        let number = &question[QUESTION.len()..HEAD];
        let is_short = HEAD + self.text.len() < question.len();
        if self.text.is_empty() || !is_short || self.answers.take(now).is_none() {
            return false;
        }
        out.extend(ANSWER);
        out.extend(number);
        out.extend(self.text.as_bytes());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_millis(5);

    #[test]
    fn an_answer_is_shorter_than_its_question() {
        let mut status = Status::new(NOW);
        status.text = "players 3".into();
        let number = [1, 2, 3, 4, 5, 6, 7, 8];
        for length in 0..60 {
            let question = status_question(number, length);
            assert!(Status::is_asked(&question));
            let mut answer = Vec::new();
            if status.answer(NOW, &question, &mut answer) {
                assert!(answer.len() < question.len());
                assert_eq!(status_answer(number, &answer), Some("players 3"));
                assert_eq!(status_answer([0; 8], &answer), None);
            } else {
                assert!(question.len() <= HEAD + "players 3".len());
            }
        }
    }

    #[test]
    fn answers_have_a_rate_and_packets_are_no_questions() {
        let mut status = Status::new(NOW);
        status.text = "here".into();
        let question = status_question([0; 8], 64);
        let answered = (0..2 * STATUS_ANSWERS).filter(|_| {
            let mut answer = Vec::new();
            status.answer(NOW, &question, &mut answer)
        });
        assert_eq!(answered.count(), STATUS_ANSWERS as usize);
        assert!(!Status::is_asked(b"\0tickwire?"));
        assert!(!Status::is_asked(&[0x40; 64]));
    }
}
