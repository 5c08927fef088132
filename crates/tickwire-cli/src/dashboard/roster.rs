//! The clients as a table: in which order, which one is chosen, and how each did.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_session::{Addr, Instant, PeerStats};

use crate::figures::Trace;
use crate::serve::report::{Client, Report};

/// Between two samples of a client, which come with the server's reports.
const PERIOD: Duration = Duration::from_millis(900);

/// By what clients are sorted, in the order in which a key goes through them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Column {
    #[default]
    Name,
    Protocol,
    RoundTrip,
    Loss,
    Sent,
    Snapshots,
    Gap,
}

impl Column {
    pub(crate) const ALL: [Self; 7] = [
        Self::Name,
        Self::Protocol,
        Self::RoundTrip,
        Self::Loss,
        Self::Sent,
        Self::Snapshots,
        Self::Gap,
    ];

    const fn next(self) -> Self {
        match self {
            Self::Name => Self::Protocol,
            Self::Protocol => Self::RoundTrip,
            Self::RoundTrip => Self::Loss,
            Self::Loss => Self::Sent,
            Self::Sent => Self::Snapshots,
            Self::Snapshots => Self::Gap,
            Self::Gap => Self::Name,
        }
    }
}

/// Who a client is, for as long as it is there.
pub(crate) type Key = (&'static str, Addr);

/// Order, choice and history of the clients.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roster {
    pub(crate) column: Column,
    pub(crate) is_descending: bool,
    /// Its place in the table.
    pub(crate) chosen: usize,
    /// Of those who are there.
    traces: BTreeMap<Key, Trace>,
    /// In order.
    pub(crate) clients: Vec<Client>,
}

impl Roster {
    /// Takes a second of everybody.
    pub(crate) fn add(&mut self, report: &Report) {
        let mut before = std::mem::take(&mut self.traces);
        for client in &report.clients {
            let key = key(client);
            let mut trace = before.remove(&key).unwrap_or_else(|| Trace::new(PERIOD));
            trace.add(report.time, &client.stats);
            self.traces.insert(key, trace);
        }
        let chosen = self.chosen().map(key);
        self.clients.clone_from(&report.clients);
        self.sort_keeping(chosen);
    }

    /// Takes the figures of the chosen client between two reports, so that no gap is missed.
    pub(crate) fn watch(&mut self, now: Instant, protocol: &'static str, stats: &PeerStats<'_>) {
        if let Some(trace) = self.traces.get_mut(&(protocol, stats.addr)) {
            trace.add(now, stats);
        }
    }

    pub(crate) fn sort_by_next(&mut self) {
        self.column = self.column.next();
        self.sort();
    }

    pub(crate) fn reverse(&mut self) {
        self.is_descending = !self.is_descending;
        self.sort();
    }

    pub(crate) fn choose_next(&mut self) {
        self.chosen = (self.chosen + 1).min(self.clients.len().saturating_sub(1));
    }

    pub(crate) const fn choose_last(&mut self) {
        self.chosen = self.chosen.saturating_sub(1);
    }

    pub(crate) fn chosen(&self) -> Option<&Client> {
        self.clients.get(self.chosen)
    }

    pub(crate) fn trace(&self, client: &Client) -> Option<&Trace> {
        self.traces.get(&key(client))
    }

    fn sort(&mut self) {
        self.sort_keeping(self.chosen().map(key));
    }

    /// Whoever was chosen stays so, wherever it comes to stand.
    fn sort_keeping(&mut self, chosen: Option<Key>) {
        let mut clients = std::mem::take(&mut self.clients);
        clients.sort_by(|a, b| {
            let order = self.compare(a, b);
            let order = if self.is_descending {
                order.reverse()
            } else {
                order
            };
            order.then_with(|| key(a).cmp(&key(b)))
        });
        self.clients = clients;
        let place = self
            .clients
            .iter()
            .position(|client| Some(key(client)) == chosen);
        let last = self.clients.len().saturating_sub(1);
        self.chosen = place.unwrap_or(self.chosen).min(last);
    }

    fn compare(&self, a: &Client, b: &Client) -> Ordering {
        let by = |figure: &dyn Fn(&Client) -> f64| figure(a).total_cmp(&figure(b));
        let last = |client: &Client| self.trace(client).and_then(Trace::last).copied();
        match self.column {
            Column::Name => a.name.cmp(&b.name),
            Column::Protocol => a.protocol.cmp(b.protocol),
            Column::RoundTrip => a.stats.round_trip.cmp(&b.stats.round_trip),
            Column::Loss => by(&|client| client.stats.loss.map_or(-1.0, f64::from)),
            Column::Sent => by(&|client| client.rates.kbits_out),
            Column::Snapshots => by(&|client| last(client).map_or(0.0, |last| last.updates)),
            Column::Gap => by(&|client| last(client).map_or(0.0, |last| last.gap)),
        }
    }
}

pub(crate) fn key(client: &Client) -> Key {
    (client.protocol, client.stats.addr)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::report::Rates;

    fn report(second: u64, names: &[(&str, u64)]) -> Report {
        let clients = names.iter().map(|(name, millis)| {
            let addr = format!("127.0.0.1:{}", 4_000 + millis);
            let mut stats = PeerStats::new("", addr.parse().unwrap(), "Playing");
            stats.round_trip = Some(Duration::from_millis(*millis));
            Client {
                name: (*name).into(),
                protocol: "proto",
                stats,
                rates: Rates::default(),
            }
        });
        Report {
            time: Instant::from_millis(second * 1_000),
            clients: clients.collect(),
            ..Report::default()
        }
    }

    #[test]
    fn whoever_is_chosen_stays_chosen_in_any_order() {
        let mut roster = Roster::default();
        roster.add(&report(1, &[("Grace", 10), ("Ada", 30), ("Linus", 20)]));
        let names = |roster: &Roster| -> Vec<String> {
            roster
                .clients
                .iter()
                .map(|client| client.name.clone())
                .collect()
        };
        assert_eq!(names(&roster), ["Ada", "Grace", "Linus"]);
        roster.choose_next();
        assert_eq!(roster.chosen().map(|client| &*client.name), Some("Grace"));
        roster.sort_by_next();
        roster.sort_by_next();
        assert_eq!(roster.column, Column::RoundTrip);
        assert_eq!(names(&roster), ["Grace", "Linus", "Ada"]);
        roster.reverse();
        assert_eq!(names(&roster), ["Ada", "Linus", "Grace"]);
        assert_eq!(roster.chosen().map(|client| &*client.name), Some("Grace"));
    }

    #[test]
    fn those_who_left_are_forgotten() {
        let mut roster = Roster::default();
        roster.add(&report(1, &[("Ada", 1), ("Grace", 2)]));
        roster.chosen = 1;
        roster.add(&report(2, &[("Ada", 1)]));
        assert_eq!((roster.traces.len(), roster.chosen), (1, 0));
        let ada = roster.chosen().unwrap().clone();
        assert_eq!(roster.trace(&ada).unwrap().values(|_| 0.0).count(), 1);
        roster.add(&report(3, &[]));
        assert!(roster.chosen().is_none());
        roster.choose_next();
        roster.choose_last();
    }
}
