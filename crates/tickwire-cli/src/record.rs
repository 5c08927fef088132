//! `--record FILE`: everything that a session was told and said, for `tickwire inspect`.
//!
//! A session is driven through a [`Tap`] whose recorder appends to the file. The file is buffered and
//! written out once a second and at the end, so a crash loses at most a second; what is there reads up to
//! the last whole record. A disk that takes no more ends the recording, not the game.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use tickwire_session::tap::{Input, Observer, Recorder, Tap};
use tickwire_session::{Instant, Session, Transmit};

/// Between two times that what was recorded is written out.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// A recording under way.
#[derive(Debug)]
pub(crate) struct RecordFile {
    path: PathBuf,
    recorder: Recorder<Sink>,
    file: Arc<Mutex<Option<BufWriter<File>>>>,
    next_flush: Instant,
}

type Sink = Box<dyn FnMut(&[u8]) + Send>;

impl RecordFile {
    /// Fails if nothing can be written there.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        let file =
            File::create(path).with_context(|| format!("cannot record to {}", path.display()))?;
        let file = Arc::new(Mutex::new(Some(BufWriter::new(file))));
        let sink = Arc::clone(&file);
        let write: Sink = Box::new(move |record| {
            let mut file = sink.lock().unwrap_or_else(PoisonError::into_inner);
            // Half a record is the end of what can be read, so nothing may follow it.
            file.take_if(|file| file.write_all(record).is_err());
        });
        Ok(Self {
            path: path.into(),
            recorder: Recorder::new(write),
            file,
            next_flush: Instant::ZERO + FLUSH_EVERY,
        })
    }

    /// One for each of several sessions: the name gets the session's behind it.
    pub(crate) fn create_all(path: &Path, names: &[&str]) -> anyhow::Result<Vec<Self>> {
        if let [_] = names {
            return Ok(vec![Self::create(path)?]);
        }
        let named = |name: &&str| {
            let mut path = path.as_os_str().to_owned();
            path.push(".");
            path.push(name);
            Self::create(Path::new(&path))
        };
        names.iter().map(named).collect()
    }

    /// The session with the recorder on its paths.
    pub(crate) fn tap<'a>(
        &'a mut self,
        session: &'a mut dyn Session,
    ) -> Tap<&'a mut dyn Session, &'a mut Self> {
        Tap::new(session, self)
    }

    /// Writes out what was recorded, if it is time to. An error says that the recording has ended.
    pub(crate) fn keep(&mut self, now: Instant) -> anyhow::Result<()> {
        if now < self.next_flush {
            return Ok(());
        }
        self.next_flush = now + FLUSH_EVERY;
        self.flush()
    }

    /// Writes out the rest.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *file {
            Some(writer) => {
                let flushed = writer.flush();
                if flushed.is_err() {
                    *file = None;
                }
                flushed.with_context(|| format!("{} is not complete", self.path.display()))
            }
            None => Ok(()),
        }
    }
}

impl Observer for RecordFile {
    fn input(&mut self, now: Instant, input: Input<'_>) {
        self.recorder.input(now, input);
    }

    fn output(&mut self, now: Instant, transmit: Transmit, bytes: &[u8]) {
        self.recorder.output(now, transmit, bytes);
    }
}
