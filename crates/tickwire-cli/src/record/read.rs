//! A recording, read record by record: as much memory for an hour as for a second.

use std::io::{self, Read, Seek, SeekFrom};

use anyhow::{Context as _, anyhow, bail};
use tickwire_session::Instant;
use tickwire_session::tap::{Record, Recording};

/// Reads records from anywhere.
#[derive(Debug)]
pub(crate) struct Records<R> {
    bytes: R,
    /// What it is called, for people.
    name: String,
    /// Where the record begins that is read next.
    at: u64,
    record: Vec<u8>,
}

/// What comes next.
#[derive(Debug)]
pub(crate) enum Next<'a> {
    Record(Instant, Record<'a>),
    /// The recording ends inside the next one: its writer was stopped.
    Cut,
    End,
}

impl<R: Read> Records<R> {
    /// Fails if the bytes do not begin as a recording does.
    pub(crate) fn new(mut bytes: R, name: String) -> anyhow::Result<Self> {
        let mut magic = [0; Recording::MAGIC.len()];
        match bytes.read_exact(&mut magic) {
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                return Err(error).with_context(|| format!("cannot read {name}"));
            }
            Ok(()) if magic == *Recording::MAGIC => {}
            _ => bail!("{name} is no recording, or one of another version of this program"),
        }
        Ok(Self {
            bytes,
            name,
            at: magic.len() as u64,
            record: Vec::new(),
        })
    }

    /// Where the record begins that is read next.
    pub(crate) const fn at(&self) -> u64 {
        self.at
    }

    /// What is wrong with the record that is read next, for people.
    pub(crate) fn complaint(&self, what: &str) -> String {
        format!("{}, record at byte {}: {what}", self.name, self.at)
    }

    /// Reads a record. Behind an error nothing can be trusted.
    pub(crate) fn next(&mut self) -> anyhow::Result<Next<'_>> {
        let read = self.fill(4)?;
        let Some(length) = self.record.first_chunk() else {
            return Ok(if read == 0 { Next::End } else { Next::Cut });
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length > Recording::RECORD_MAX {
            bail!(self.complaint(&format!(
                "it claims {length} bytes, at most {} are possible; the recording is damaged",
                Recording::RECORD_MAX
            )));
        }
        if self.fill(length)? < length {
            return Ok(Next::Cut);
        }
        match Record::decode(&self.record) {
            Ok((now, record)) => {
                self.at += 4 + length as u64;
                Ok(Next::Record(now, record))
            }
            Err(why) => Err(anyhow!(self.complaint(&why.to_string()))),
        }
    }

    /// The record that was read last.
    pub(crate) fn last(&self) -> Option<(Instant, Record<'_>)> {
        Record::decode(&self.record).ok()
    }

    /// Reads `length` bytes, or as many as there are.
    fn fill(&mut self, length: usize) -> anyhow::Result<usize> {
        self.record.clear();
        let mut bytes = (&mut self.bytes).take(length as u64);
        let read = bytes.read_to_end(&mut self.record);
        read.with_context(|| format!("cannot read {}", self.name))
    }
}

impl<R: Read + Seek> Records<R> {
    /// Goes on reading at a byte where a record begins.
    pub(crate) fn go_to(&mut self, at: u64) -> anyhow::Result<()> {
        self.at = at;
        self.seek(SeekFrom::Start(at)).map(drop)
    }

    /// How many bytes there are.
    pub(crate) fn length(&mut self) -> anyhow::Result<u64> {
        let end = self.seek(SeekFrom::End(0))?;
        self.go_to(self.at)?;
        Ok(end)
    }

    fn seek(&mut self, to: SeekFrom) -> anyhow::Result<u64> {
        let gone = self.bytes.seek(to);
        gone.with_context(|| format!("cannot read {}", self.name))
    }
}
