//! One direction of a stream, read message by message as its bytes come.
//!
//! In: pieces, cut anywhere, and where some are missing. Out: messages, each as soon as it is whole. What is held is at
//! most one message that is not. Behind a gap, or behind bytes that cannot be read, nothing can be told apart: the
//! rest is shown as it is.

use tickwire_demo::gateway::StreamInspector;
use tickwire_wire::DecodeError;

use super::Fault;
use super::fields::Fields;

/// Bytes of a message that is not whole yet; no protocol has longer ones.
const MESSAGE_MAX: usize = 1_024 * 1_024;

/// Bytes that are held while it is not known which protocol they are of.
const UNDECIDED_MAX: usize = 64 * 1_024;

/// Reads one direction.
#[derive(Default)]
pub(super) struct StreamReader {
    state: State,
    held: Vec<u8>,
}

#[derive(Default)]
enum State {
    /// Nobody said which protocol it is.
    #[default]
    Undecided,
    Reading(StreamInspector),
    /// Why nothing can be read any more.
    Lost(&'static str),
}

/// Gets a message, or bytes that cannot be read and why.
pub(super) type Emit<'a> = dyn FnMut(&[u8], &Fields, Option<Fault>) -> anyhow::Result<()> + 'a;

impl StreamReader {
    /// Whether somebody has to say how to read it.
    pub(super) const fn is_undecided(&self) -> bool {
        matches!(self.state, State::Undecided)
    }

    /// Says how to read it from here on.
    pub(super) fn decide(&mut self, inspector: StreamInspector) {
        self.state = State::Reading(inspector);
    }

    /// What came and was not shown.
    pub(super) fn held(&self) -> &[u8] {
        &self.held
    }

    /// More of the stream.
    pub(super) fn add(&mut self, bytes: &[u8], emit: &mut Emit<'_>) -> anyhow::Result<()> {
        self.held.extend_from_slice(bytes);
        match &self.state {
            State::Lost(why) => {
                let held = std::mem::take(&mut self.held);
                emit(&held, &Fields::default(), Some(Fault::Unread(why)))
            }
            State::Undecided if self.held.len() > UNDECIDED_MAX => self.lose(UNKNOWN, emit),
            State::Undecided => Ok(()),
            State::Reading(_) => self.read(false, emit),
        }
    }

    /// So many bytes are missing here.
    pub(super) fn skip(&mut self, missing: u64, emit: &mut Emit<'_>) -> anyhow::Result<()> {
        self.read(true, emit)?;
        emit(&[], &Fields::default(), Some(Fault::Gap(missing)))?;
        self.lose("behind a gap", emit)
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, emit: &mut Emit<'_>) -> anyhow::Result<()> {
        match self.state {
            State::Undecided => self.lose(UNKNOWN, emit),
            _ => self.read(true, emit),
        }
    }

    fn lose(&mut self, why: &'static str, emit: &mut Emit<'_>) -> anyhow::Result<()> {
        self.state = State::Lost(why);
        match self.held.is_empty() {
            true => Ok(()),
            false => self.add(&[], emit),
        }
    }

    /// Shows every message that is whole; at the end of all, also what is not.
    fn read(&mut self, is_end: bool, emit: &mut Emit<'_>) -> anyhow::Result<()> {
        let State::Reading(inspector) = &mut self.state else {
            return Ok(());
        };
        let mut at = 0;
        let mut is_lost = false;
        while at < self.held.len() {
            let rest = &self.held[at..];
            let mut fields = Fields::default();
            match inspector(rest, &mut fields) {
                Ok(length) if length > 0 => {
                    let message = &rest[..length.min(rest.len())];
                    at += message.len();
                    emit(message, &fields, None)?;
                }
                Err(DecodeError::Truncated { .. }) if !is_end && rest.len() <= MESSAGE_MAX => break,
                read => {
                    let fault = read.err().map_or(Fault::Unread("empty"), Fault::Wrong);
                    emit(rest, &fields, Some(fault))?;
                    (at, is_lost) = (self.held.len(), true);
                }
            }
        }
        self.held.drain(..at);
        if is_lost {
            self.state = State::Lost("behind what cannot be read");
        }
        Ok(())
    }
}

const UNKNOWN: &str = "of no protocol that is known here";

#[cfg(test)]
mod tests {
    use super::*;

    /// A protocol whose messages are a length and that many bytes.
    fn reader() -> StreamReader {
        let mut reader = StreamReader::default();
        reader.decide(Box::new(|bytes, _| {
            let length = usize::from(bytes[0]);
            let short = DecodeError::Truncated {
                field: "body",
                at_bit: 8,
            };
            match length {
                9 => Err(DecodeError::Trailing { at_bit: 0 }),
                _ if bytes.len() <= length => Err(short),
                _ => Ok(1 + length),
            }
        }));
        reader
    }

    /// What is emitted, in words.
    fn told(
        act: impl FnOnce(&mut StreamReader, &mut Emit<'_>) -> anyhow::Result<()>,
    ) -> Vec<String> {
        let mut words = Vec::new();
        let mut reader = reader();
        let mut emit = |bytes: &[u8], _: &Fields, fault: Option<Fault>| {
            words.push(format!(
                "{bytes:?}{}",
                match fault {
                    None => String::new(),
                    Some(Fault::Wrong(error)) => format!(" {error}"),
                    Some(Fault::Unread(why)) => format!(" {why}"),
                    Some(Fault::Gap(missing)) => format!(" {missing} missing"),
                }
            ));
            Ok(())
        };
        act(&mut reader, &mut emit).expect("nothing is written");
        words
    }

    #[test]
    fn a_message_is_shown_when_it_is_whole() {
        let words = told(|reader, emit| {
            reader.add(&[2, 7], emit)?;
            reader.add(&[7, 0, 1], emit)?;
            reader.finish(emit)
        });
        assert_eq!(
            words,
            ["[2, 7, 7]", "[0]", "[1] input ends inside body (at byte 1)"]
        );
    }

    #[test]
    fn behind_a_gap_bytes_are_shown_as_they_are() {
        let words = told(|reader, emit| {
            reader.add(&[2, 7], emit)?;
            reader.skip(5, emit)?;
            reader.add(&[0, 0], emit)
        });
        assert_eq!(
            words,
            [
                "[2, 7] input ends inside body (at byte 1)",
                "[] 5 missing",
                "[0, 0] behind a gap"
            ]
        );
    }

    #[test]
    fn behind_broken_bytes_nothing_is_guessed() {
        let words = told(|reader, emit| {
            reader.add(&[0, 9, 1], emit)?;
            reader.add(&[0], emit)
        });
        assert_eq!(words.len(), 3, "{words:?}");
        assert_eq!(words[0], "[0]");
        assert!(words[1].starts_with("[9, 1] "), "{words:?}");
        assert_eq!(words[2], "[0] behind what cannot be read");
    }
}
