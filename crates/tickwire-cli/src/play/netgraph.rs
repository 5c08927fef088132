//! How good the connection is, in one line.

use std::collections::VecDeque;
use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use tickwire_session::{Instant, Session, Traffic};

use crate::figures::{bars, kbits, millis};
use crate::palette;

/// Between two bars.
const SAMPLE: Duration = Duration::from_millis(100);
/// Bars that are kept: four seconds.
const SAMPLES_KEPT: usize = 40;
/// Bytes are counted over this long.
const WINDOW: Duration = Duration::from_secs(1);
/// An age that makes the highest bar: protocols send an update every 15 to 70 ms.
const OLD: Duration = Duration::from_millis(250);

/// Gathers the figures of a client.
#[derive(Clone, Debug, Default)]
pub(super) struct NetGraph {
    round_trip: Option<Duration>,
    jitter: Option<Duration>,
    loss: Option<f32>,
    kbits_in: f64,
    kbits_out: f64,
    window_began: Instant,
    before: Traffic,
    age: Duration,
    /// The oldest age of each of the last intervals, in milliseconds.
    ages: VecDeque<f64>,
    sample_began: Instant,
    oldest: Duration,
    /// What the protocol has to say of itself.
    remark: Option<String>,
}

impl NetGraph {
    /// Takes the figures of this moment.
    pub(super) fn update(&mut self, now: Instant, session: &dyn Session, age: Option<Duration>) {
        self.age = age.unwrap_or_default();
        self.oldest = self.oldest.max(self.age);
        if now.since(self.sample_began) >= SAMPLE {
            self.sample_began = now;
            if self.ages.len() == SAMPLES_KEPT {
                self.ages.pop_front();
            }
            self.ages
                .push_back(millis(std::mem::take(&mut self.oldest)));
        }
        session.visit_peers(&mut |peer| {
            (self.round_trip, self.jitter) = (peer.round_trip, peer.jitter);
            self.loss = peer.loss;
            let span = now.since(self.window_began);
            if span >= WINDOW {
                let grown = |now: u64, before: u64| kbits(now.saturating_sub(before), span);
                self.kbits_in = grown(peer.traffic.bytes_in, self.before.bytes_in);
                self.kbits_out = grown(peer.traffic.bytes_out, self.before.bytes_out);
                (self.window_began, self.before) = (now, peer.traffic);
            }
        });
    }

    /// Takes what the protocol has to say of itself.
    pub(super) fn set_remark(&mut self, remark: Option<String>) {
        self.remark = remark;
    }

    /// How long nothing was heard.
    pub(super) const fn age(&self) -> Duration {
        self.age
    }

    /// A line of at most `width` columns: what is told least by the rest gives way, and nothing is cut.
    pub(super) fn line(&self, width: u16) -> Line<'static> {
        let [delay, loss, traffic, age] = self.figures();
        let remark = self.remark.as_ref();
        let remark = remark.map_or_else(Vec::new, |remark| vec![format!(" {remark} ").into()]);
        let mut parts = vec![(4, delay), (3, loss), (1, traffic), (2, age), (5, remark)];
        let whole = |parts: &[(u8, Vec<Span<'static>>)]| {
            Line::from_iter(parts.iter().flat_map(|(_, spans)| spans.clone()))
        };
        while parts.len() > 1 && whole(&parts).width() > width.into() {
            let least = parts.iter().map(|(worth, _)| *worth).min();
            parts.retain(|(worth, _)| Some(*worth) != least);
        }
        let mut line = whole(&parts);
        // The newest bars that have room.
        let room = usize::from(width).saturating_sub(line.width());
        let older = self.ages.len().saturating_sub(room);
        let graph = bars(self.ages.iter().skip(older).copied(), millis(OLD));
        line.push_span(Span::styled(graph, Style::new().fg(palette::GREEN)));
        line
    }

    /// The delay, the loss, the traffic and the age of what is shown.
    fn figures(&self) -> [Vec<Span<'static>>; 4] {
        let label = |text| Span::styled(text, palette::LABEL);
        let span = |span: Option<Duration>| {
            span.map_or_else(|| "–".into(), |span| format!("{:.0}", millis(span)))
        };
        let loss = self.loss.unwrap_or_default() * 100.0;
        let lossy = if loss >= 5.0 {
            palette::WARNING
        } else {
            Style::new()
        };
        [
            vec![
                label(" rtt "),
                Span::raw(span(self.round_trip)),
                label(" ± "),
                Span::raw(span(self.jitter)),
                label(" ms "),
            ],
            vec![label(" loss "), Span::styled(format!("{loss:.1}% "), lossy)],
            vec![
                label(" ↓ "),
                Span::raw(format!("{:.0}", self.kbits_in)),
                label(" ↑ "),
                Span::raw(format!("{:.0}", self.kbits_out)),
                label(" kbit/s "),
            ],
            vec![
                label(" update "),
                Span::raw(format!("{:>3.0}", millis(self.age))),
                label(" ms "),
            ],
        ]
    }
}

#[cfg(test)]
mod tests {
    use tickwire_session::echo::DatagramEcho;

    use super::*;

    #[test]
    fn the_graph_shows_the_oldest_of_each_interval() {
        let mut graph = NetGraph::default();
        let session = DatagramEcho::default();
        for millis in (0..=400).step_by(10) {
            let age = match millis {
                205..295 => 260,
                _ => 20,
            };
            let now = Instant::from_millis(millis);
            graph.update(now, &session, Some(Duration::from_millis(age)));
        }
        let line = graph.line(80).to_string();
        assert!(line.ends_with("update  20 ms ▁▁█▁"), "{line}");
    }

    #[test]
    fn in_a_narrow_window_parts_are_left_out_and_none_is_cut() {
        let mut graph = NetGraph::default();
        let remark = "the connection broke: coming back";
        graph.set_remark(Some(remark.into()));
        graph.update(Instant::ZERO, &DatagramEcho::default(), None);
        for width in 0..120 {
            let line = graph.line(width);
            assert!(line.to_string().contains(remark), "{line}");
            let room = usize::from(width).max(remark.len() + 2);
            assert!(line.width() <= room, "{width}: {line}");
        }
        let line = graph.line(120).to_string();
        assert!(line.contains("kbit/s") && line.contains("rtt"), "{line}");
        assert!(!graph.line(70).to_string().contains("kbit/s"));
    }
}
