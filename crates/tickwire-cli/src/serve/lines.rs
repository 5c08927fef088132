//! What goes on, a line at a time, for people and programs that read.

use serde_json::json;
use tickwire_demo::gateway::Notice;
use tickwire_session::Instant;

use super::report::Report;
use crate::log::{Log, LogWriter};

/// Writes lines to standard output.
#[derive(Debug)]
pub(super) struct Lines {
    log: Log,
    json: bool,
}

impl Lines {
    /// Says what is open where.
    pub(super) fn open(json: bool, open: &[(&'static str, String)]) -> Self {
        let log = Log::new();
        for (protocol, address) in open {
            log.line(if json {
                json!({ "ready": protocol, "address": address }).to_string()
            } else {
                format!("ready {protocol} {address}")
            });
        }
        Self { log, json }
    }

    /// Whether somebody may still read them: `tickwire serve | head` ends with `head`.
    pub(super) fn is_read(&self) -> bool {
        self.log.is_read()
    }

    /// For what others have to say.
    pub(super) fn writer(&self) -> LogWriter {
        self.log.writer()
    }

    pub(super) fn notice(&self, now: Instant, notice: &Notice) {
        let text = notice.to_string();
        self.log.line(if self.json {
            json!({ "time": now.since(Instant::ZERO).as_secs_f64(), "notice": text }).to_string()
        } else {
            format!("{:>6} s  {text}", now.as_millis() / 1_000)
        });
    }

    pub(super) fn report(&self, report: &Report) {
        let lines = if self.json {
            vec![report.json()]
        } else {
            report.text()
        };
        lines.into_iter().for_each(|line| self.log.line(line));
    }
}
