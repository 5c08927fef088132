//! A datagram, or a message of a stream, as a JSON object on a line.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value as Json, json};
use tickwire_wire::Value;

use super::fields::{Entry, Held};
use super::{Direction, Fault, Found, PathKind, Specimen, side};

/// Writes what `specimen` says.
pub(super) fn show(specimen: &Specimen<'_>, out: &mut dyn Write) -> io::Result<()> {
    let fields: Vec<_> = specimen.fields.entries().iter().map(field).collect();
    let mut object = json!({
        "protocol": specimen.protocol.map(|protocol| protocol.name),
        "from": specimen.from.map(side),
        "carrier": match specimen.on {
            PathKind::Datagram => "datagram",
            PathKind::Stream => "stream",
            PathKind::Other(what) => what,
        },
        "bytes": Value::Bytes(specimen.bytes).to_string(),
        "fields": fields,
        "error": specimen.fault.map(|fault| match fault {
            Fault::Wrong(error) => json!({
                "what": error.to_string(),
                "offset_bits": error.at_bit(),
            }),
            Fault::Unread(why) => json!({ "what": format!("not read: {why}") }),
            Fault::Gap(missing) => json!({ "what": "missing", "bytes": missing }),
        }),
    });
    match specimen.found {
        Found::Alone => {}
        Found::Line(line) => object["line"] = line.into(),
        Found::Recorded(recorded) => {
            object["time_us"] = recorded.at.as_micros().into();
            object["peer"] = recorded.peer.to_string().into();
            object["direction"] = match recorded.direction {
                Direction::In => "in".into(),
                Direction::Out => "out".into(),
            };
        }
        Found::Captured(captured) => {
            object["time_us"] = micros(captured.at).into();
            object["frame"] = captured.frame.into();
            object["conversation"] = captured.conversation.into();
            object["source"] = captured.from.to_string().into();
            object["destination"] = captured.to.to_string().into();
        }
        Found::Frame(frame, at) => {
            object["time_us"] = micros(at).into();
            object["frame"] = frame.into();
        }
    }
    writeln!(out, "{object}")
}

/// A group is a field without place and value, and what is in it is deeper.
fn field(entry: &Entry) -> Json {
    let place = entry.field.as_ref().map(|(place, _)| place);
    let value = entry.field.as_ref().map(|(_, held)| match held {
        Held::Unsigned(value) => (*value).into(),
        Held::Signed(value) => (*value).into(),
        Held::Float(value) if value.is_finite() => (*value).into(),
        Held::Text(text) => text.as_str().into(),
        // JSON has no words for these.
        Held::Float(_) | Held::Bytes(_) => Json::from(held.value().to_string()),
    });
    json!({
        "name": entry.name,
        "depth": entry.depth,
        "offset_bits": place.map(|place| place.at_bit),
        "bits": place.map(|place| place.bits),
        "value": value,
        "meaning": Some(entry.meaning).filter(|word| !word.is_empty()),
    })
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
