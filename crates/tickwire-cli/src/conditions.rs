//! Network conditions, as people type them and as they are shown.
//!
//! In: words such as `wifi`, `delay=80ms` or `up.loss=5%`, in an option, on a line of standard input. Out: what a
//! [`Lag`](tickwire_sim::Lag) is made of. A word without a direction means both. The same words are shown back.

mod lags;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tickwire_sim::{Bottleneck, Bursts, Chance, Conditions, PRESETS, Pauses, Preset};

pub(crate) use lags::Lags;

/// Let the program feel a bad network.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct NetworkArgs {
    /// A bad network: a preset (lan, wifi, transatlantic, 4g, satellite, bad-hotel), or words of your own such as
    /// `wifi,up.loss=5%,rate=1mbit`; `tickwire lag --help` lists them.
    #[arg(
        long,
        visible_alias = "preset",
        value_name = "WORDS",
        help_heading = "Network"
    )]
    lag: Option<Network>,

    /// How long everything takes, each way, as in 80ms.
    #[arg(long, value_name = "TIME", value_parser = parse_time, help_heading = "Network")]
    delay: Option<Duration>,

    /// What is added to it at random, as in 20ms.
    #[arg(long, value_name = "TIME", value_parser = parse_time, help_heading = "Network")]
    jitter: Option<Duration>,

    /// How many datagrams are lost, each way, as in 5%.
    #[arg(long, value_name = "PERCENT", value_parser = parse_chance, help_heading = "Network")]
    loss: Option<Chance>,

    /// The same seed loses the same datagrams, if the same are sent.
    #[arg(
        long,
        value_name = "SEED",
        default_value_t = 1,
        help_heading = "Network"
    )]
    lag_seed: u64,
}

impl NetworkArgs {
    /// What was asked for; `None` if nothing was.
    pub(crate) fn network(&self) -> Option<Network> {
        let asks = self.delay.is_some() || self.jitter.is_some() || self.loss.is_some();
        let mut network = self.lag.or_else(|| asks.then(Network::default))?;
        for direction in [&mut network.up, &mut network.down] {
            direction.latency = self.delay.unwrap_or(direction.latency);
            direction.jitter = self.jitter.unwrap_or(direction.jitter);
            direction.loss = self.loss.unwrap_or(direction.loss);
        }
        Some(network)
    }

    pub(crate) const fn seed(&self) -> u64 {
        self.lag_seed
    }
}

/// Both directions of a client's line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Network {
    /// From a client to its server.
    pub(crate) up: Conditions,
    /// From the server to the client.
    pub(crate) down: Conditions,
}

impl From<&Preset> for Network {
    fn from(preset: &Preset) -> Self {
        let &Preset { up, down, .. } = preset;
        Self { up, down }
    }
}

impl Network {
    /// Changes what the words say, all of them or nothing.
    pub(crate) fn change(&mut self, words: &str) -> Result<(), String> {
        let mut changed = *self;
        let words = words.split([',', ' ', '\t']);
        for word in words.filter(|word| !word.is_empty()) {
            changed.change_one(word)?;
        }
        *self = changed;
        Ok(())
    }

    fn change_one(&mut self, word: &str) -> Result<(), String> {
        if word == "off" {
            *self = Self::default();
            return Ok(());
        }
        let Some((name, value)) = word.split_once('=') else {
            let preset = Preset::named(word).ok_or_else(|| unknown(word))?;
            *self = preset.into();
            return Ok(());
        };
        let (both, key) = match name.split_once('.') {
            None => ([true, true], name),
            Some(("up", key)) => ([true, false], key),
            Some(("down", key)) => ([false, true], key),
            Some(_) => return Err(unknown(word)),
        };
        let directions = [&mut self.up, &mut self.down].into_iter().zip(both);
        for (direction, _) in directions.filter(|(_, is_meant)| *is_meant) {
            set(direction, key, value)?;
        }
        Ok(())
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(words: &str) -> Result<Self, String> {
        let mut network = Self::default();
        network.change(words)?;
        Ok(network)
    }
}

fn unknown(word: &str) -> String {
    let presets: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    let presets = presets.join(", ");
    format!(
        "{word:?} is no condition: write {presets}, off, or KEY=VALUE with one of the keys {KEYS}; \
         up. or down. in front of a key means that direction alone"
    )
}

const KEYS: &str = "delay, jitter, clump, loss, burst, duplicate, reorder, rate, queue, stall";

/// How far apart clumps are: about as far as a busy Wi-Fi's turns.
const CLUMP_EVERY: Duration = Duration::from_millis(60);

/// How far apart stalls are: often enough to be met by whoever looks for them.
const STALL_EVERY: Duration = Duration::from_secs(10);

/// How long a burst of loss is on average: five items.
const BURST_END: Chance = Chance::percent(20);

/// Of the items in a burst, so many are lost.
const BURST_LOSS: Chance = Chance::percent(80);

/// What waits in front of a bottleneck, unless it is said: a quarter of a second of it.
const QUEUE_PART: u32 = 4;

fn set(direction: &mut Conditions, key: &str, value: &str) -> Result<(), String> {
    match key {
        "delay" => direction.latency = parse_time(value)?,
        "jitter" => direction.jitter = parse_time(value)?,
        "clump" => direction.clumps = pauses(CLUMP_EVERY, parse_time(value)?),
        "stall" => direction.stalls = pauses(STALL_EVERY, parse_time(value)?),
        "loss" => direction.loss = parse_chance(value)?,
        "burst" => direction.bursts = bursts(parse_chance(value)?),
        "duplicate" => direction.duplication = parse_chance(value)?,
        "reorder" => {
            direction.reordering = parse_chance(value)?;
            // Late enough to be overtaken by what a game sends next.
            let usual = Duration::from_millis(30);
            direction.reordering_delay = direction.reordering_delay.max(usual);
        }
        "rate" => {
            let bytes_per_second = parse_rate(value)?;
            direction.bottleneck = (bytes_per_second > 0).then(|| Bottleneck {
                bytes_per_second,
                queue_bytes: direction
                    .bottleneck
                    .map_or(bytes_per_second / QUEUE_PART, |before| before.queue_bytes)
                    .max(LEAST_QUEUE),
            });
        }
        "queue" => match &mut direction.bottleneck {
            Some(bottleneck) => bottleneck.queue_bytes = parse_bytes(value)?,
            None => {
                return Err(
                    "queue= is for what waits in front of a rate: write rate= first".into(),
                );
            }
        },
        _ => return Err(unknown(&format!("{key}={value}"))),
    }
    Ok(())
}

/// A few full datagrams: with less, nothing large would ever pass.
const LEAST_QUEUE: u32 = 6_000;

fn pauses(every: Duration, longest: Duration) -> Option<Pauses> {
    (!longest.is_zero()).then_some(Pauses { every, longest })
}

/// Bursts that lose so many of all items.
fn bursts(lost: Chance) -> Option<Bursts> {
    // In a burst are `begin / (begin + end)` of all items, and of those `loss` are lost.
    let share = f64::from(lost.as_per_million()) / f64::from(BURST_LOSS.as_per_million());
    let end = f64::from(BURST_END.as_per_million());
    let begin = (share.min(0.99) * end / (1.0 - share.min(0.99))).min(1_000_000.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between nothing and a million"
    )]
    let begin = Chance::per_million(begin as u32);
    (lost > Chance::NEVER).then_some(Bursts {
        begin,
        end: BURST_END,
        loss: BURST_LOSS,
    })
}

/// A number and its unit.
fn split_unit(typed: &str) -> Option<(f64, &str)> {
    let unit = typed.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = typed.split_at(unit.unwrap_or(typed.len()));
    let number: f64 = number.parse().ok()?;
    Some((number, unit))
}

pub(crate) fn parse_time(typed: &str) -> Result<Duration, String> {
    let seconds = split_unit(typed).and_then(|(number, unit)| match unit {
        "us" => Some(number / 1e6),
        "ms" => Some(number / 1e3),
        "s" => Some(number),
        "" if number == 0.0 => Some(0.0),
        _ => None,
    });
    // Longer than anybody waits, and short enough for every sum.
    let seconds = seconds.filter(|seconds| *seconds <= 60.0);
    seconds.map(Duration::from_secs_f64).ok_or_else(|| {
        format!("{typed:?} is no time up to 60s: write it as in 80ms, 1.5s or 250us")
    })
}

fn parse_chance(typed: &str) -> Result<Chance, String> {
    let percent = split_unit(typed)
        .filter(|(number, unit)| matches!(*unit, "%" | "") && (0.0..=100.0).contains(number));
    let (percent, _) = percent.ok_or_else(|| {
        format!("{typed:?} is no share from 0% to 100%: write it as in 5% or 0.5%")
    })?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between nothing and a million"
    )]
    let per_million = (percent * 10_000.0).round() as u32;
    Ok(Chance::per_million(per_million))
}

/// Bytes a second; 0 means that everything fits through.
fn parse_rate(typed: &str) -> Result<u32, String> {
    let bits = split_unit(typed).and_then(|(number, unit)| match unit {
        "kbit" => Some(number * 1e3),
        "mbit" => Some(number * 1e6),
        "" if number == 0.0 => Some(0.0),
        _ => None,
    });
    let bits = bits.filter(|bits| *bits <= 1e10);
    let bytes = bits.map(|bits| bits / 8.0).ok_or_else(|| {
        format!(
            "{typed:?} is no rate up to 10000mbit: write it as in 1mbit or 256kbit, or 0 for none"
        )
    })?;
    Ok(whole(bytes))
}

fn parse_bytes(typed: &str) -> Result<u32, String> {
    let bytes = split_unit(typed).and_then(|(number, unit)| match unit {
        "" => Some(number),
        "k" => Some(number * 1_024.0),
        "m" => Some(number * 1_048_576.0),
        _ => None,
    });
    let bytes = bytes.filter(|bytes| *bytes <= 1e9);
    bytes
        .map(whole)
        .ok_or_else(|| format!("{typed:?} is no size up to 1 GB: write it as in 64k"))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "parsed without a sign, and bounded"
)]
fn whole(number: f64) -> u32 {
    number as u32
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let preset = PRESETS.iter().find(|preset| Self::from(*preset) == *self);
        match preset {
            Some(preset) => f.write_str(preset.name),
            None if self.up == self.down => Words(&self.up).fmt(f),
            None => write!(f, "up: {}; down: {}", Words(&self.up), Words(&self.down)),
        }
    }
}

/// One direction, in words that can be typed.
pub(crate) struct Words<'a>(pub(crate) &'a Conditions);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conditions {
            latency,
            jitter,
            loss,
            bursts,
            duplication,
            reordering,
            bottleneck,
            clumps,
            stalls,
            ..
        } = *self.0;
        let mut words = Vec::new();
        let mut time = |key: &str, span: Duration| {
            if !span.is_zero() {
                words.push(format!("{key}={}ms", span.as_secs_f64() * 1e3));
            }
        };
        let longest = |pauses: Option<Pauses>| pauses.map_or(Duration::ZERO, |p| p.longest);
        time("delay", latency);
        time("jitter", jitter);
        time("clump", longest(clumps));
        time("stall", longest(stalls));
        let mut share = |key: &str, chance: Chance| {
            if chance > Chance::NEVER {
                words.push(format!("{key}={}%", percent(chance)));
            }
        };
        share("loss", loss);
        share("burst", bursts.map_or(Chance::NEVER, lost_in_bursts));
        share("duplicate", duplication);
        share("reorder", reordering);
        if let Some(Bottleneck {
            bytes_per_second,
            queue_bytes,
        }) = bottleneck
        {
            words.push(format!(
                "rate={}kbit",
                u64::from(bytes_per_second) * 8 / 1_000
            ));
            words.push(format!("queue={}k", queue_bytes / 1_024));
        }
        if words.is_empty() {
            return f.write_str("off");
        }
        f.write_str(&words.join(","))
    }
}

fn percent(chance: Chance) -> f64 {
    f64::from(chance.as_per_million()) / 10_000.0
}

/// How many of all items a burst loses, to a tenth of a percent.
fn lost_in_bursts(Bursts { begin, end, loss }: Bursts) -> Chance {
    let [begin, end, loss] = [begin, end, loss].map(|chance| f64::from(chance.as_per_million()));
    let lost = begin / (begin + end).max(1.0) * loss;
    Chance::per_million((whole(lost) + 500) / 1_000 * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(words: &str) -> Network {
        words.parse().unwrap()
    }

    #[test]
    fn words_change_what_they_name() {
        let both = network("delay=80ms, loss=2.5%");
        assert_eq!(both.up, both.down);
        assert_eq!(both.up.latency, Duration::from_millis(80));
        assert_eq!(both.up.loss, Chance::per_million(25_000));
        let one = network("up.loss=5% down.rate=1mbit down.queue=64k");
        assert_eq!(one.up.loss, Chance::percent(5));
        assert_eq!(one.down.loss, Chance::NEVER);
        let expected = Bottleneck {
            bytes_per_second: 125_000,
            queue_bytes: 65_536,
        };
        assert_eq!(
            (one.up.bottleneck, one.down.bottleneck),
            (None, Some(expected))
        );
    }

    #[test]
    fn presets_are_words_and_can_be_changed() {
        let changed = network("4g,loss=0%");
        assert_eq!(changed.up.loss, Chance::NEVER);
        let mobile = Preset::named("4g").unwrap();
        assert_eq!(changed.up.latency, mobile.up.latency);
        assert_eq!(network("4g,off"), Network::default());
    }

    #[test]
    fn words_are_shown_as_they_are_typed() {
        for words in [
            "off",
            "wifi",
            "bad-hotel",
            "delay=80ms,loss=5%",
            "clump=40ms,stall=500ms",
        ] {
            assert_eq!(network(words).to_string(), words);
        }
        let uneven = network("up.burst=4%,down.rate=256kbit");
        let shown = "up: burst=4%; down: rate=256kbit,queue=7k";
        assert_eq!(uneven.to_string(), shown);
    }

    #[test]
    fn nonsense_changes_nothing_and_says_what_to_write() {
        let before = network("delay=5ms");
        for (typed, hint) in [
            ("hotel", "bad-hotel"),
            ("delay=5", "80ms"),
            ("delay=-5ms", "80ms"),
            ("delay=61s", "60s"),
            ("loss=101%", "100%"),
            ("loss=NaN%", "5%"),
            ("left.loss=1%", "up. or down."),
            ("rate=1", "1mbit"),
            ("queue=5k", "rate= first"),
            ("loss=1%,speed=9", "delay, jitter"),
        ] {
            let mut network = before;
            let error = network.change(typed).unwrap_err();
            assert!(error.contains(hint), "{typed}: {error}");
            assert_eq!(network, before, "{typed}");
        }
    }

    #[test]
    fn a_burst_loses_what_was_asked() {
        let Bursts { begin, end, loss } = bursts(Chance::percent(4)).unwrap();
        let [begin, end, loss] = [begin, end, loss].map(percent);
        let lost = begin / (begin + end) * loss;
        assert!((3.99..=4.01).contains(&lost), "{lost}");
    }
}
