//! What cells are made of.

/// A block of one sublayer.
///
/// The world looks at `typ` alone. The rest is for the eye: `ch` is a printable ASCII character, and
/// `col` its colours as text screens have had them for forty years: ink in the low four bits, paper
/// in the three above. Players may build with any values.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Block {
    /// What it does; see the constants.
    pub typ: i8,
    /// What colours it has.
    pub col: i8,
    /// What character it shows.
    pub ch: i8,
}

impl Block {
    /// Nothing.
    pub const EMPTY: Self = Self {
        typ: 0,
        col: 0,
        ch: 0,
    };

    /// The `typ` of what stays where it is. Every value but 0 and [`PUSHABLE`](Self::PUSHABLE) does.
    pub const FIXED: i8 = 1;

    /// The `typ` of what moves on when somebody walks into it.
    pub const PUSHABLE: i8 = 2;

    /// Something that stays where it is.
    pub const fn fixed(col: i8, ch: u8) -> Self {
        Self {
            typ: Self::FIXED,
            col,
            ch: ch.cast_signed(),
        }
    }

    /// Something that can be pushed.
    pub const fn pushable(col: i8, ch: u8) -> Self {
        Self {
            typ: Self::PUSHABLE,
            col,
            ch: ch.cast_signed(),
        }
    }

    /// Whether there is nothing.
    pub const fn is_empty(self) -> bool {
        self.typ == 0
    }

    /// Whether it moves on when somebody walks into it.
    pub const fn is_pushable(self) -> bool {
        self.typ == Self::PUSHABLE
    }

    /// The one way to write a block: of nothing, neither colour nor character remains.
    #[must_use]
    pub const fn canonical(self) -> Self {
        if self.is_empty() { Self::EMPTY } else { self }
    }

    pub(super) const fn to_bytes(self) -> [u8; 3] {
        [
            self.typ.cast_unsigned(),
            self.col.cast_unsigned(),
            self.ch.cast_unsigned(),
        ]
    }

    pub(super) const fn of_bytes([typ, col, ch]: [u8; 3]) -> Self {
        Self {
            typ: typ.cast_signed(),
            col: col.cast_signed(),
            ch: ch.cast_signed(),
        }
    }
}

/// Both blocks of a cell.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Tile {
    /// What one walks on.
    pub walkable: Block,
    /// What one cannot walk into, if there is anything.
    pub solid: Block,
}

impl Tile {
    /// Whether one can walk here.
    pub const fn is_free(self) -> bool {
        self.solid.is_empty()
    }
}
