//! What the libraries log (`tracing`), among the lines of this command.
//!
//! In: events of this house's own crates, at the level that was asked for. Out: a line each, for people or as
//! JSON. Everything that is logged may have come from a stranger, so nothing of it reaches a terminal unescaped.

use std::fmt::{self, Write as _};
use std::time::Instant;

use anyhow::Context;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, Subscriber};
use tracing::{Event, Metadata};

use crate::log::LogWriter;

/// How much is logged.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum LogLevel {
    Off,
    Warn,
    /// Connections that open, are refused and end.
    Info,
    /// Those that only try, too.
    Debug,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Off => Self::OFF,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
        }
    }
}

/// Writes every event of this process there, from now on.
pub(crate) fn install(level: LogLevel, json: bool, log: LogWriter) -> anyhow::Result<()> {
    if level == LogLevel::Off {
        return Ok(());
    }
    let tracer = Tracer {
        level: level.into(),
        json,
        began: Instant::now(),
        log,
    };
    tracing::subscriber::set_global_default(tracer).context("something else logs already")
}

#[derive(Debug)]
struct Tracer {
    level: LevelFilter,
    json: bool,
    began: Instant,
    log: LogWriter,
}

impl Subscriber for Tracer {
    /// Others' events are not ours to judge: theirs may hold what is secret.
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tickwire") && *metadata.level() <= self.level
    }

    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        match self.enabled(metadata) {
            true => Interest::always(),
            false => Interest::never(),
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        let seconds = self.began.elapsed().as_secs_f64();
        self.log.line(match self.json {
            true => fields.json(seconds, &level),
            false => fields.text(seconds, &level),
        });
    }

    // There are no spans: each event says itself which connection it is about.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// What an event says, in its order.
#[derive(Debug, Default)]
struct Fields {
    message: String,
    others: Vec<(&'static str, Value)>,
}

impl Fields {
    fn text(&self, seconds: f64, level: &str) -> String {
        let mut line = format!("{seconds:>6.0} s  {level}: {}", self.message);
        for (name, value) in &self.others {
            let value = match value {
                Value::String(text) => text.escape_debug().to_string(),
                other => other.to_string(),
            };
            write!(line, " {name}={value}").expect("a string takes everything");
        }
        line
    }

    fn json(self, seconds: f64, level: &str) -> String {
        let mut object = Map::new();
        object.insert("time".into(), json!(seconds));
        object.insert("level".into(), json!(level));
        object.insert("message".into(), json!(self.message));
        let others = self.others.into_iter();
        object.extend(others.map(|(name, value)| (name.to_owned(), value)));
        Value::from(object).to_string()
    }
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.others.push((field.name(), json!(value)));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.others.push((field.name(), json!(value)));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "message" => self.message = text,
            name => self.others.push((name, json!(text))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> Fields {
        Fields {
            message: "link ended".into(),
            others: vec![("link", json!(3)), ("reason", json!("a\n\u{1b}[2Jb"))],
        }
    }

    #[test]
    fn a_line_names_its_connection_and_obeys_nobody() {
        let line = fields().text(12.4, "info");
        assert_eq!(
            line,
            "    12 s  info: link ended link=3 reason=a\\n\\u{1b}[2Jb"
        );
    }

    #[test]
    fn json_has_every_field() {
        let value: Value = serde_json::from_str(&fields().json(1.5, "warn")).unwrap();
        let expected = json!({
            "time": 1.5, "level": "warn", "message": "link ended", "link": 3, "reason": "a\n\u{1b}[2Jb",
        });
        assert_eq!(value, expected);
    }
}
