//! A datagram, or a stream, as a JSON object on a line.

use std::io::{self, Write};

use serde_json::{Value as Json, json};
use tickwire_demo::gateway::{PathKind, Protocol};
use tickwire_wire::{Place, Trace, Value};

use super::{Direction, Found, Recorded, Specimen, side};

/// Writes what `specimen` says; whether it decodes.
pub(super) fn show(
    protocol: &Protocol,
    specimen: Specimen<'_>,
    out: &mut dyn Write,
) -> io::Result<bool> {
    let mut fields = Fields::default();
    let verdict = (protocol.inspect)(specimen.from, specimen.on, specimen.bytes, &mut fields);
    let error = verdict.err();
    let mut object = json!({
        "protocol": protocol.name,
        "from": side(specimen.from),
        "carrier": match specimen.on {
            PathKind::Datagram => "datagram",
            PathKind::Stream => "stream",
        },
        "bytes": Value::Bytes(specimen.bytes).to_string(),
        "fields": fields.fields,
        "error": error.map(|error| json!({
            "what": error.to_string(),
            "offset_bits": error.at_bit(),
        })),
    });
    match specimen.found {
        Found::Alone => {}
        Found::Line(line) => object["line"] = line.into(),
        Found::Recorded(Recorded {
            at,
            direction,
            peer,
        }) => {
            object["time_us"] = at.as_micros().into();
            object["peer"] = peer.to_string().into();
            object["direction"] = match direction {
                Direction::In => "in".into(),
                Direction::Out => "out".into(),
            };
        }
    }
    writeln!(out, "{object}")?;
    Ok(error.is_none())
}

/// Fields as JSON. A group is a field without place and value, and what is in it is deeper.
#[derive(Debug, Default)]
struct Fields {
    fields: Vec<Json>,
    depth: usize,
}

impl Fields {
    fn push(&mut self, name: &str, place: Option<Place>, value: Json) {
        self.fields.push(json!({
            "name": name,
            "depth": self.depth,
            "offset_bits": place.map(|place| place.at_bit),
            "bits": place.map(|place| place.bits),
            "value": value,
            "meaning": null,
        }));
    }
}

impl Trace for Fields {
    fn open(&mut self, group: &'static str) {
        self.push(group, None, Json::Null);
        self.depth += 1;
    }

    fn field(&mut self, name: &'static str, place: Place, value: Value<'_>) {
        let value = match value {
            Value::Unsigned(value) => value.into(),
            Value::Signed(value) => value.into(),
            Value::Float(value) if value.is_finite() => value.into(),
            Value::Text(text) => text.into(),
            // JSON has no words for these.
            Value::Float(_) | Value::Bytes(_) => value.to_string().into(),
        };
        self.push(name, Some(place), value);
    }

    fn meaning(&mut self, word: &'static str) {
        if let Some(last) = self.fields.last_mut() {
            last["meaning"] = word.into();
        }
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
