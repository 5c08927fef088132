//! The arena in dots and signs, for every screen that shows it.
//!
//! In: a [`View`], whichever protocol it came through, a [`Camera`] and the latest blasts. Out: cells of
//! a buffer. Everything has a shape of its own besides its colour: the sun is full, planets are striped,
//! ships are arrows (outlines from near by), bullets dots, rockets diamonds, beams lines, shockwaves
//! circles.

mod blast;
mod camera;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::widgets::Widget;
use ratatui::widgets::canvas::{Canvas, Circle, Context, Line, Points};
use tickwire_demo::gateway::Flash;
use tickwire_demo::{Heading, Kind, Score, Seen, Vec2, View, printable, rules};

use crate::palette;

pub(crate) use blast::{Blast, Blasts};
pub(crate) use camera::{Camera, Zoom};

/// The arena as a widget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArenaCanvas<'a> {
    /// What there is.
    pub(crate) view: &'a View,
    /// Who plays.
    pub(crate) scores: &'a [Score],
    /// What just exploded.
    pub(crate) blasts: &'a [Blast],
    /// What is seen for a moment.
    pub(crate) flashes: &'a [Flash],
    /// From where it is looked at.
    pub(crate) camera: Camera,
    /// What the colours tell apart.
    pub(crate) tints: Tints,
}

/// What the colours of ships and shots tell apart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Tints {
    /// The players, for those who watch.
    Owners,
    /// Mine and theirs, for those who play.
    Sides,
}

/// Up to so many ships have their names beside them; more would hide each other.
pub(crate) const LABELLED_SHIPS: usize = 24;

/// Dots that the radius of a ship must have for an outline to be more than a blot.
const OUTLINED_FROM: f64 = 3.0;

/// Dots between two stars, about.
const STAR_DISTANCE: f64 = 22.0;

impl Widget for ArenaCanvas<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let (x, y) = self.camera.bounds(area);
        Canvas::default()
            .marker(Marker::Braille)
            .x_bounds(x)
            .y_bounds(y)
            .paint(|ctx| {
                self.paint_space(ctx, area);
                ctx.layer();
                self.paint_sky(ctx);
                ctx.layer();
                self.paint_shots(ctx);
                ctx.layer();
                self.paint_ships(ctx);
            })
            .render(area, buf);
        self.set_signs(area, buf);
    }
}

impl ArenaCanvas<'_> {
    /// Stars, so that movement can be seen, and the edge from which on everything is pulled back.
    fn paint_space(&self, ctx: &mut Context<'_>, area: Rect) {
        let stars = self.camera.stars(area, STAR_DISTANCE);
        ctx.draw(&Points::new(&stars, palette::FAINT));
        let edge = (0..180).map(|step| {
            let at = Heading::from_degrees(f64::from(step) * 2.0).unit() * rules::ARENA_RADIUS;
            (at.x, at.y)
        });
        ctx.draw(&Points::new(&edge.collect::<Vec<_>>(), palette::FAINT));
    }

    fn paint_sky(&self, ctx: &mut Context<'_>) {
        for seen in &self.view.seen {
            match seen.kind {
                Kind::Sun => {
                    ctx.draw(&Points::new(&self.disc(seen, 1), palette::YELLOW));
                }
                Kind::Planet => {
                    ctx.draw(&Points::new(&self.disc(seen, 2), palette::BLUE));
                    ctx.draw(&circle(seen.position, seen.reach, palette::BLUE));
                }
                _ => {}
            }
        }
    }

    fn paint_shots(&self, ctx: &mut Context<'_>) {
        for seen in &self.view.seen {
            let Vec2 { x, y } = seen.position;
            let tint = self.tint(seen);
            match seen.kind {
                Kind::Bullet => {
                    // Larger than a star, if there is room for it.
                    let next = self.camera.units_per_dot.min(seen.reach * 2.0);
                    let dots = [(x, y), (x + next, y), (x, y + next), (x + next, y + next)];
                    ctx.draw(&Points::new(&dots, tint));
                }
                Kind::Ray => {
                    let end = seen.position + seen.heading.unit() * seen.reach;
                    ctx.draw(&Line::new(x, y, end.x, end.y, tint));
                }
                Kind::Shockwave => ctx.draw(&circle(seen.position, seen.reach, tint)),
                _ => {}
            }
        }
        for blast in self.blasts {
            let (sparks, tint) = blast.sparks();
            ctx.draw(&Points::new(&sparks, tint));
        }
    }

    /// Outlines of ships that are near enough.
    fn paint_ships(&self, ctx: &mut Context<'_>) {
        for ship in self.ships().filter(|ship| self.is_outlined(ship)) {
            let point = |turn: f64, share: f64| {
                ship.position + ship.heading.turned(turn).unit() * (ship.reach * share)
            };
            let hull = [
                point(0.0, 1.2),
                point(2.5, 1.0),
                point(std::f64::consts::PI, 0.4),
                point(-2.5, 1.0),
            ];
            let tint = self.tint(ship);
            for (from, to) in hull.iter().zip(hull.iter().cycle().skip(1)) {
                ctx.draw(&Line::new(from.x, from.y, to.x, to.y, tint));
            }
        }
    }

    /// What is a sign rather than dots: ships from afar, rockets, names.
    fn set_signs(&self, area: Rect, buf: &mut Buffer) {
        let small = self.ships().filter(|ship| !self.is_outlined(ship));
        let rockets = self.view.seen.iter();
        let rockets = rockets.filter(|seen| seen.kind == Kind::Rocket);
        for seen in rockets.chain(small) {
            if let Some(at) = self.camera.cell(area, seen.position) {
                let sign = match seen.kind {
                    Kind::Rocket => '◆',
                    _ => arrow(seen.heading),
                };
                let style = Style::new().fg(self.tint(seen));
                buf[at]
                    .set_char(sign)
                    .set_style(style.add_modifier(Modifier::BOLD));
            }
        }
        for flash in self.flashes {
            if let Some(at) = self.camera.cell(area, flash.position) {
                let room = usize::from(area.right() - at.x);
                let style = Style::new().fg(palette::YELLOW);
                let text = format!("✸ {}", printable(&flash.what));
                buf.set_stringn(at.x, at.y, text, room, style);
            }
        }
        if self.ships().count() <= LABELLED_SHIPS {
            for ship in self.ships() {
                self.set_label(ship, area, buf);
            }
        }
    }

    /// The name of a ship's pilot beside it, and what is left of the ship.
    fn set_label(&self, ship: &Seen, area: Rect, buf: &mut Buffer) {
        let mut scores = self.scores.iter();
        let pilot = scores.find(|score| Some(score.owner) == ship.owner);
        let mut label = pilot.map_or(String::new(), |pilot| printable(&pilot.name));
        if ship.own {
            label.clear();
        } else if self.is_outlined(ship) {
            label = format!("{label} {}%", ship.health);
        }
        let label = label.trim();
        let width = u16::try_from(label.chars().count()).unwrap_or(u16::MAX);
        let aside = Vec2::new(ship.reach * 1.4, 0.0);
        let [left, right] =
            [ship.position - aside, ship.position + aside].map(|edge| self.camera.cell(area, edge));
        let at = match (left, right) {
            (_, Some(right)) if right.x + width < area.right() => right.x + 1,
            (Some(left), _) if left.x >= area.x + width => left.x - width,
            _ => return,
        };
        let row = left.or(right).map_or(area.y, |cell| cell.y);
        let space = Rect::new(at, row, width, 1);
        // A name over another name would be neither.
        if space.positions().all(|cell| !is_sign(&buf[cell])) {
            let style = Style::new().fg(self.tint(ship));
            buf.set_string(at, row, label, style);
        }
    }

    fn ships(&self) -> impl Iterator<Item = &Seen> {
        self.view.seen.iter().filter(|seen| seen.kind == Kind::Ship)
    }

    fn is_outlined(&self, ship: &Seen) -> bool {
        ship.reach >= OUTLINED_FROM * self.camera.units_per_dot
    }

    fn tint(&self, seen: &Seen) -> Color {
        let mut owners = self.scores.iter().map(|score| Some(score.owner));
        match self.tints {
            Tints::Owners => owners
                .position(|owner| owner == seen.owner)
                .map_or(palette::DIM, palette::player),
            Tints::Sides if seen.own => palette::SKY_BLUE,
            Tints::Sides => palette::VERMILLION,
        }
    }

    /// The dots of a disc: every row, or every second.
    fn disc(&self, seen: &Seen, rows: u32) -> Vec<(f64, f64)> {
        let unit = self.camera.units_per_dot;
        let Vec2 { x, y } = seen.position;
        let radius = seen.reach;
        let mut dots = Vec::new();
        let mut dy = -radius;
        while dy <= radius {
            let half = (radius * radius - dy * dy).max(0.0).sqrt();
            let mut dx = -half;
            while dx <= half {
                dots.push((x + dx, y + dy));
                dx += unit;
            }
            dy += unit * f64::from(rows);
        }
        dots
    }
}

const fn circle(Vec2 { x, y }: Vec2, radius: f64, color: Color) -> Circle {
    Circle {
        x,
        y,
        radius,
        color,
    }
}

/// Whether a cell holds more than dots.
fn is_sign(cell: &Cell) -> bool {
    let dots = '\u{2800}'..='\u{28ff}';
    let symbol = cell.symbol();
    symbol != " " && !symbol.starts_with(|c| dots.contains(&c))
}

/// The arrow that comes nearest to a heading.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a heading is below 360, so this is at most 8"
)]
pub(crate) fn arrow(heading: Heading) -> char {
    const ARROWS: [char; 8] = ['▶', '◥', '▲', '◤', '◀', '◣', '▼', '◢'];
    ARROWS[(heading.degrees() / 45.0).round() as usize % ARROWS.len()]
}

#[cfg(test)]
pub(crate) mod tests;
