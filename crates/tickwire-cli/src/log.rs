//! Lines on standard output, without ever waiting for whoever reads them.
//!
//! A game loop must not stand still because a terminal is paused or a pipe is full, nor end because
//! nobody reads any more. So a thread writes, and lines that come while too many wait are dropped.

use std::io::Write;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::wait::finished_within;

/// Lines that may wait to be written.
const LINES_WAITING: usize = 1_024;

/// How long a reader that takes nothing may delay the end.
const PATIENCE: Duration = Duration::from_secs(1);

/// Writes lines in the background.
#[derive(Debug)]
pub(crate) struct Log {
    lines: Option<SyncSender<String>>,
    writer: Option<JoinHandle<()>>,
}

impl Log {
    pub(crate) fn new() -> Self {
        let (lines, waiting) = sync_channel::<String>(LINES_WAITING);
        let writer = std::thread::spawn(move || {
            let mut out = std::io::stdout();
            for line in waiting {
                // Nobody reads any more: there is nobody to tell, either.
                if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
                    return;
                }
            }
        });
        Self {
            lines: Some(lines),
            writer: Some(writer),
        }
    }

    pub(crate) fn line(&self, line: String) {
        if let Some(lines) = &self.lines {
            // Full, or nobody reads: the line is lost, the game goes on.
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
