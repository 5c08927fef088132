//! Lines on standard output, without ever waiting for whoever reads them.
//!
//! A game loop must not stand still because a terminal is paused or a pipe is full. So a thread writes,
//! and lines that come while too many wait are dropped. A pipe that was closed is another matter:
//! [`Log::is_read`] says so, and whoever prints only for that reader can end.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::wait::finished_within;

/// Lines that may wait to be written.
const LINES_WAITING: usize = 1_024;

/// How long a reader that takes nothing may delay the end.
const PATIENCE: Duration = Duration::from_secs(1);

/// How soon a reader that went away is missed, if nothing is written.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Writes the one result of a command. Whoever closed the pipe wanted no more of it, which is no failure.
pub(crate) fn print_line(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes lines in the background.
#[derive(Debug)]
pub(crate) struct Log {
    lines: Option<Arc<SyncSender<String>>>,
    writer: Option<JoinHandle<()>>,
    is_read: Arc<AtomicBool>,
}

impl Log {
    pub(crate) fn new() -> Self {
        let (lines, waiting) = sync_channel::<String>(LINES_WAITING);
        let is_read = Arc::new(AtomicBool::new(true));
        let reader = Arc::clone(&is_read);
        let writer = std::thread::spawn(move || {
            let mut out = std::io::stdout();
            loop {
                let gone = match waiting.recv_timeout(LOOK_EVERY) {
                    Ok(line) => writeln!(out, "{line}").and_then(|()| out.flush()).is_err(),
                    Err(RecvTimeoutError::Timeout) => is_closed(&out),
                    Err(RecvTimeoutError::Disconnected) => return,
                };
                if gone {
                    reader.store(false, Ordering::Relaxed);
                    return;
                }
            }
        });
        Self {
            lines: Some(Arc::new(lines)),
            writer: Some(writer),
            is_read,
        }
    }

    /// Whether somebody may still read what is written.
    pub(crate) fn is_read(&self) -> bool {
        self.is_read.load(Ordering::Relaxed)
    }

    /// Another way to write lines, for as long as this is there.
    pub(crate) fn writer(&self) -> LogWriter {
        LogWriter(self.lines.as_ref().map(Arc::downgrade).unwrap_or_default())
    }

    pub(crate) fn line(&self, line: String) {
        if let Some(lines) = &self.lines {
            // Full, or nobody reads: the line is lost, the game goes on.
            lines.try_send(line).ok();
        }
    }
}

/// Writes lines of a [`Log`] without keeping it from ending.
#[derive(Clone, Debug)]
pub(crate) struct LogWriter(Weak<SyncSender<String>>);

impl LogWriter {
    pub(crate) fn line(&self, line: String) {
        if let Some(lines) = self.0.upgrade() {
            lines.try_send(line).ok();
        }
    }
}

impl Drop for Log {
    /// Waits for what is still to be written, since the process ends next.
    fn drop(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            finished_within(PATIENCE, writer);
        }
    }
}

/// Whether whoever read a pipe has closed it. A file or a terminal is never closed in this way.
#[cfg(unix)]
fn is_closed(out: &std::io::Stdout) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let mut pipe = [PollFd::new(out, PollFlags::empty())];
    let polled = poll(&mut pipe, Some(&Timespec::default()));
    let [pipe] = &pipe;
    polled.is_ok() && pipe.revents().contains(PollFlags::ERR)
}

/// Elsewhere the next line tells.
#[cfg(not(unix))]
const fn is_closed(_: &std::io::Stdout) -> bool {
    false
}
