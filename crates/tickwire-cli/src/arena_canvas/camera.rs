//! Which part of the world is seen, and where on the screen.
//!
//! A cell of a terminal is about twice as high as it is wide and holds 2 × 4 dots, so that dots are
//! about square: one scale serves both directions.

use ratatui::layout::{Position, Rect};
use tickwire_demo::{Vec2, rules};

/// Where one looks, and how closely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Camera {
    /// What is in the middle.
    pub(crate) centre: Vec2,
    /// The world's units from dot to dot.
    pub(crate) units_per_dot: f64,
}

/// How closely a camera that follows somebody looks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Zoom(usize);

impl Zoom {
    /// Units per dot, from near to far.
    const STEPS: [f64; 7] = [5.0, 8.0, 12.0, 18.0, 27.0, 40.0, 60.0];

    pub(crate) const fn nearer(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    pub(crate) fn further(self) -> Self {
        Self((self.0 + 1).min(Self::STEPS.len() - 1))
    }
}

impl Default for Zoom {
    /// In a window of 80 × 24, as far as a beam reaches to either side.
    fn default() -> Self {
        Self(2)
    }
}

impl Camera {
    /// The whole arena, with a little of what is outside.
    pub(crate) fn whole(area: Rect) -> Self {
        let (width, height) = dots(area);
        let extent = rules::ARENA_RADIUS * 2.08;
        Self {
            centre: Vec2::ZERO,
            units_per_dot: extent / width.min(height).max(1.0),
        }
    }

    /// What is around a place.
    pub(crate) const fn around(centre: Vec2, zoom: Zoom) -> Self {
        Self {
            centre,
            units_per_dot: Zoom::STEPS[zoom.0],
        }
    }

    /// The world's coordinates of the first and the last dot, across and upwards.
    pub(crate) fn bounds(&self, area: Rect) -> ([f64; 2], [f64; 2]) {
        let (width, height) = dots(area);
        let half = Vec2::new(width - 1.0, height - 1.0) * (self.units_per_dot / 2.0);
        let Vec2 { x, y } = self.centre;
        ([x - half.x, x + half.x], [y - half.y, y + half.y])
    }

    /// The cell that shows a place, if it is seen.
    pub(crate) fn cell(&self, area: Rect, place: Vec2) -> Option<Position> {
        let ([left, _], [_, top]) = self.bounds(area);
        let across = ((place.x - left) / self.units_per_dot).round() / 2.0;
        let down = ((top - place.y) / self.units_per_dot).round() / 4.0;
        let inside = (0.0..f64::from(area.width)).contains(&across)
            && (0.0..f64::from(area.height)).contains(&down);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "inside the area"
        )]
        inside.then(|| Position::new(area.x + across as u16, area.y + down as u16))
    }

    /// The place that is in the middle of a cell.
    pub(crate) fn place(&self, area: Rect, cell: Position) -> Vec2 {
        let ([left, _], [_, top]) = self.bounds(area);
        let across = f64::from(cell.x) - f64::from(area.x);
        let down = f64::from(cell.y) - f64::from(area.y);
        Vec2::new(
            left + (across * 2.0 + 0.5) * self.units_per_dot,
            top - (down * 4.0 + 1.5) * self.units_per_dot,
        )
    }

    /// The cell at the border that lies in the direction of a place that is not seen; `None` if it is
    /// seen.
    pub(crate) fn border(&self, area: Rect, place: Vec2) -> Option<Position> {
        if area.is_empty() || self.cell(area, place).is_some() {
            return None;
        }
        let ([left, right], [bottom, top]) = self.bounds(area);
        let way = place - self.centre;
        let share = ((right - left) / 2.0 / way.x.abs()).min((top - bottom) / 2.0 / way.y.abs());
        self.cell(area, self.centre + way * share.min(1.0))
    }

    /// Stars: the same at every look, as many on every scale.
    pub(crate) fn stars(&self, area: Rect, dots_apart: f64) -> Vec<(f64, f64)> {
        // Powers of two, so that going nearer keeps the stars that are seen and adds others.
        let field = (self.units_per_dot * dots_apart).log2().ceil().exp2();
        let ([left, right], [bottom, top]) = self.bounds(area);
        let fields = |from: f64, to: f64| {
            #[expect(clippy::cast_possible_truncation, reason = "the world is small")]
            let [from, to] = [from, to].map(|edge| (edge / field).floor() as i32);
            from..=to
        };
        let mut stars = Vec::new();
        for column in fields(left, right) {
            for row in fields(bottom, top) {
                let (x, y) = scatter(column, row);
                stars.push((
                    (f64::from(column) + x) * field,
                    (f64::from(row) + y) * field,
                ));
            }
        }
        stars
    }
}

fn dots(area: Rect) -> (f64, f64) {
    (f64::from(area.width) * 2.0, f64::from(area.height) * 4.0)
}

/// A place within a field, each coordinate from 0 to 1.
fn scatter(column: i32, row: i32) -> (f64, f64) {
    let seed = (column.cast_unsigned()).wrapping_mul(0x9e37_79b9) ^ row.cast_unsigned();
    let mixed = (seed ^ seed >> 15).wrapping_mul(0x85eb_ca6b);
    let mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
    let share = |bits: u32| f64::from(bits & 0xffff) / 65_536.0;
    (share(mixed), share(mixed >> 16))
}
