//! `--record FILE`: everything that a session was told and said, for `tickwire inspect` and `tickwire replay`.
//!
//! The file is buffered and written out once a second and at the end, so a crash loses at most a second; what
//! is there reads up to the last whole record. A disk that takes no more ends the recording, not the game.

mod read;

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use tickwire_demo::recording::{Log, Sink};
use tickwire_session::tap::{About, Recorded, Tap};
use tickwire_session::{Addr, Host, Instant, Session};

pub(crate) use read::{Next, Records};

/// Between two times that what was recorded is written out.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// What a server's recording names that is not for any client in particular.
pub(crate) const NOBODY: Addr = Addr {
    host: Host::Link(u64::MAX),
    port: 0,
};

/// A recording under way.
#[derive(Debug)]
pub(crate) struct RecordFile {
    path: PathBuf,
    log: Log,
    file: Arc<Mutex<Option<BufWriter<File>>>>,
    next_flush: Instant,
}

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
            log: Log::new(write),
            file,
            next_flush: Instant::ZERO + FLUSH_EVERY,
        })
    }

    /// One for each of several servers: the name gets the protocol's behind it.
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

    /// Where records go.
    pub(crate) const fn log(&self) -> &Log {
        &self.log
    }

    /// Says of which server this is, and for which of its clients it is to be played back.
    pub(crate) fn tell_server(&self, now: Instant, protocol: &str, watcher: Addr) {
        self.log.about(
            now,
            &About {
                side: Recorded::Server,
                peer: watcher,
                protocol,
                words: &[],
            },
        );
    }

    /// A server's session with the recorder on its paths.
    pub(crate) fn tap<'a>(
        &'a mut self,
        session: &'a mut dyn Session,
    ) -> Tap<&'a mut dyn Session, &'a mut Log> {
        Tap::new(session, &mut self.log)
    }

    /// Writes out what was recorded, if it is time to. An error says that the recording has ended.
    pub(crate) fn keep(&mut self, now: Instant) -> anyhow::Result<()> {
        if now < self.next_flush {
            return Ok(());
        }
        self.next_flush = now + FLUSH_EVERY;
        self.flush()
    }

    /// Ends the recording, and writes out the rest.
    pub(crate) fn finish(&mut self, now: Instant) -> anyhow::Result<()> {
        self.log.finish(now);
        self.flush()
    }

    fn flush(&self) -> anyhow::Result<()> {
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
