//! How good the connection is: in one line, and in detail for whoever presses a key.

use std::collections::VecDeque;
use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear};
use tickwire_session::{Instant, PeerStats};

use crate::dashboard::netgraph;
use crate::figures::{Sample, Trace, bars, millis};
use crate::palette;

/// Between two bars.
const SAMPLE: Duration = Duration::from_millis(100);
/// Bars that are kept: four seconds.
const SAMPLES_KEPT: usize = 40;
/// Samples in a second.
const SAMPLES_A_SECOND: usize = 10;
/// An age that makes the highest bar: protocols send an update every 15 to 70 ms.
const OLD: Duration = Duration::from_millis(250);

/// Gathers the figures of a client.
#[derive(Clone, Debug)]
pub(super) struct NetGraph {
    stats: Option<PeerStats<'static>>,
    trace: Trace,
    /// Whether it is shown in detail.
    shows_detail: bool,
    age: Duration,
    /// The oldest age of each of the last intervals, in milliseconds.
    ages: VecDeque<f64>,
    sample_began: Instant,
    oldest: Duration,
    /// What the protocol has to say of itself.
    remark: Option<String>,
}

impl Default for NetGraph {
    fn default() -> Self {
        Self {
            stats: None,
            trace: Trace::new(SAMPLE),
            shows_detail: false,
            age: Duration::ZERO,
            ages: VecDeque::new(),
            sample_began: Instant::ZERO,
            oldest: Duration::ZERO,
            remark: None,
        }
    }
}

impl NetGraph {
    /// Takes the figures of this moment.
    pub(super) fn update(&mut self, now: Instant, stats: Option<PeerStats<'static>>) {
        let age = stats.and_then(|stats| stats.updates.age(now));
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
        if let Some(stats) = &stats {
            self.trace.add(now, stats);
        }
        self.stats = stats.or(self.stats);
    }

    /// Shows or hides the details.
    pub(super) const fn toggle(&mut self) {
        self.shows_detail = !self.shows_detail;
    }

    /// Draws the details over the lower part of an area, if they are to be shown.
    pub(super) fn draw_detail(&self, area: Rect, frame: &mut Frame<'_>) {
        if !self.shows_detail {
            return;
        }
        let height = netgraph::height(&self.trace).saturating_add(2);
        let height = height.min(area.height);
        let below = Rect {
            y: area.bottom() - height,
            height,
            ..area
        };
        let title = Span::styled(" net graph, 100 ms a bar ", palette::TITLE);
        let block = Block::bordered().title(title).border_style(palette::LABEL);
        frame.render_widget(Clear, below);
        netgraph::draw(&self.trace, block.inner(below), frame);
        frame.render_widget(block, below);
    }

    /// Takes what the protocol has to say of itself.
    pub(super) fn set_remark(&mut self, remark: Option<String>) {
        self.remark = remark;
    }

    /// The mean of the last second.
    fn mean(&self, figure: fn(&Sample) -> f64) -> f64 {
        let values: Vec<_> = self.trace.values(figure).collect();
        let last = values.rchunks(SAMPLES_A_SECOND).next().unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "ten at most")]
        let count = last.len().max(1) as f64;
        last.iter().fold(0.0, |sum, value| sum + value) / count
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
        let stats = self.stats.as_ref();
        let loss = stats.and_then(|stats| stats.loss).unwrap_or_default() * 100.0;
        let lossy = if loss >= 5.0 {
            palette::WARNING
        } else {
            Style::new()
        };
        [
            vec![
                label(" rtt "),
                Span::raw(span(stats.and_then(|stats| stats.round_trip))),
                label(" ± "),
                Span::raw(span(stats.and_then(|stats| stats.jitter))),
                label(" ms "),
            ],
            vec![label(" loss "), Span::styled(format!("{loss:.1}% "), lossy)],
            vec![
                label(" ↓ "),
                Span::raw(format!("{:.0}", self.mean(|sample| sample.kbits_in))),
                label(" ↑ "),
                Span::raw(format!("{:.0}", self.mean(|sample| sample.kbits_out))),
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
    use super::*;

    #[test]
    fn the_graph_shows_the_oldest_of_each_interval() {
        let mut graph = NetGraph::default();
        let mut stats = PeerStats::new("", "127.0.0.1:9".parse().unwrap(), "Playing");
        for millis in (0..=400).step_by(10) {
            let now = Instant::from_millis(millis);
            if !(20..=280).contains(&millis) {
                stats.updates.add(now);
            }
            graph.update(now, Some(stats));
        }
        let line = graph.line(80).to_string();
        assert!(line.ends_with("update   0 ms ▃▇█▁"), "{line}");
    }

    #[test]
    fn in_a_narrow_window_parts_are_left_out_and_none_is_cut() {
        let mut graph = NetGraph::default();
        let remark = "the connection broke: coming back";
        graph.set_remark(Some(remark.into()));
        graph.update(Instant::ZERO, None);
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
