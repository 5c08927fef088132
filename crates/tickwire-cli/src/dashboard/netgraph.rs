//! One peer's net graph: a row for every figure, with what it is and how it was.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::figures::{Graph, Trace, bars};
use crate::palette;

/// Columns of a row's words; the rest are bars.
const WORDS: u16 = 50;

/// Rows that it takes for what a trace knows.
pub(crate) fn height(trace: &Trace) -> u16 {
    u16::try_from(trace.graphs().len()).unwrap_or(u16::MAX)
}

/// Draws as many rows as there is room for, the most telling first.
pub(crate) fn draw(trace: &Trace, area: Rect, frame: &mut Frame<'_>) {
    for (row, graph) in area.rows().zip(trace.graphs()) {
        frame.render_widget(line(&graph, row.width), row);
    }
}

fn line(graph: &Graph, width: u16) -> Line<'static> {
    let now = graph.values.last().copied().unwrap_or_default();
    let most = graph.values.iter().copied().fold(0.0, f64::max);
    let room = usize::from(width.saturating_sub(WORDS));
    let newest = graph.values.len().saturating_sub(room);
    let newest = graph.values.iter().skip(newest).copied();
    let label = |text: String| Span::styled(text, palette::LABEL);
    Line::from(vec![
        label(format!(" {:<17}", graph.name)),
        Span::raw(format!("{:>8}", number(now))),
        label(format!(" {:<7} up to ", graph.unit)),
        Span::raw(format!("{:<8} ", number(most))),
        Span::styled(
            bars(newest, most.max(f64::MIN_POSITIVE)),
            Style::new().fg(palette::GREEN),
        ),
    ])
}

fn number(value: f64) -> String {
    match value {
        ..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
