//! The colours of every screen: Okabe and Ito's eight, which people with any kind of colour vision can
//! tell apart.
//!
//! They are given as entries of the 256-colour table, which every terminal has and which comes within a
//! few percent of each. Colour never says anything alone: shapes, names and places say the same.

use ratatui::style::{Color, Modifier, Style};

/// `#E69F00`
pub(crate) const ORANGE: Color = Color::Indexed(214);
/// `#56B4E9`
pub(crate) const SKY_BLUE: Color = Color::Indexed(74);
/// `#009E73`
pub(crate) const GREEN: Color = Color::Indexed(36);
/// `#F0E442`
pub(crate) const YELLOW: Color = Color::Indexed(227);
/// `#0072B2`
pub(crate) const BLUE: Color = Color::Indexed(32);
/// `#D55E00`
pub(crate) const VERMILLION: Color = Color::Indexed(166);
/// `#CC79A7`
pub(crate) const PURPLE: Color = Color::Indexed(175);

/// What frames, hints and stars are drawn in.
pub(crate) const FAINT: Color = Color::Indexed(240);
/// Words that explain numbers.
pub(crate) const DIM: Color = Color::Indexed(246);

/// As many players as have their names beside their ships, each in a colour of its own: the eight's,
/// and then others that lie as far from each other as the table allows.
const PLAYERS: [Color; 24] = [
    SKY_BLUE,
    ORANGE,
    GREEN,
    PURPLE,
    VERMILLION,
    Color::Indexed(255),
    Color::Indexed(51),
    Color::Indexed(118),
    Color::Indexed(201),
    Color::Indexed(223),
    Color::Indexed(99),
    Color::Indexed(196),
    Color::Indexed(151),
    Color::Indexed(130),
    Color::Indexed(117),
    Color::Indexed(205),
    Color::Indexed(142),
    Color::Indexed(63),
    Color::Indexed(216),
    Color::Indexed(72),
    Color::Indexed(183),
    Color::Indexed(203),
    Color::Indexed(48),
    Color::Indexed(95),
];

/// The colour of the player at this place of the scoreboard, for those who watch. The sun's and the
/// planets' are not among them.
pub(crate) const fn player(place: usize) -> Color {
    PLAYERS[place % PLAYERS.len()]
}

/// Words that explain numbers.
pub(crate) const LABEL: Style = Style::new().fg(DIM);
/// The name of a panel.
pub(crate) const TITLE: Style = Style::new().fg(SKY_BLUE).add_modifier(Modifier::BOLD);
/// A key that can be pressed.
pub(crate) const KEY: Style = Style::new().fg(YELLOW).add_modifier(Modifier::BOLD);
/// A number that should be looked at.
pub(crate) const WARNING: Style = Style::new().fg(VERMILLION).add_modifier(Modifier::BOLD);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_pilots_with_a_name_share_a_colour_nor_have_a_planet_s() {
        let colours: Vec<_> = (0..crate::arena_canvas::LABELLED_SHIPS)
            .map(player)
            .collect();
        for (place, colour) in colours.iter().enumerate() {
            assert!(!colours[..place].contains(colour), "{colour:?} twice");
            assert!(![BLUE, YELLOW].contains(colour), "{colour:?} is the sky's");
        }
    }
}
