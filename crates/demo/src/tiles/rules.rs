//! What walking, pushing, building and riding do.

use super::dice::sway;
use super::edits::NoRoom;
use super::terrain::railway;
use super::train::Course;
use super::{
    Block, BlockId, Cause, Cell, Direction, EditRefusal, Entity, EntityId, Event, Motion, SetId,
    Sublayer, TileWorld, WalkRefusal,
};

impl TileWorld {
    /// Takes one step, and gives where that led. A pushable block in the way is pushed one cell on,
    /// if that cell is free.
    pub fn walk(&mut self, who: EntityId, direction: Direction) -> Result<Cell, WalkRefusal> {
        if !self.events.has_room() {
            return Err(WalkRefusal::Busy);
        }
        let from = self.crowd.get(who).ok_or(WalkRefusal::Gone)?.position();
        let to = from.step(direction).ok_or(WalkRefusal::Edge)?;
        let solid = self.tile(to).ok_or(WalkRefusal::Edge)?.solid;
        if !solid.is_empty() {
            self.push(who, to, direction, solid)?;
        }
        self.relocate(who, to, Motion::Walked(direction));
        Ok(to)
    }

    /// Puts somebody near a cell, however far that is, and gives where.
    pub fn teleport(&mut self, who: EntityId, near: Cell) -> Result<Cell, WalkRefusal> {
        if !self.events.has_room() {
            return Err(WalkRefusal::Busy);
        }
        self.crowd.get(who).ok_or(WalkRefusal::Gone)?;
        let to = self.free_near(near).ok_or(WalkRefusal::Blocked)?;
        self.relocate(who, to, Motion::Displaced);
        Ok(to)
    }

    /// Lets somebody replace a block; one of typ 0 removes it. Whoever is refused may want to know
    /// what [`block`](Self::block) there really is.
    ///
    /// How far somebody can reach is left to the protocol, which knows what its client sees.
    pub fn set_block(
        &mut self,
        who: EntityId,
        at: BlockId,
        block: Block,
    ) -> Result<(), EditRefusal> {
        if self.crowd.get(who).is_none() {
            return Err(EditRefusal::Gone);
        }
        self.edit(at, block, Cause::Built(who))
    }

    pub(super) fn edit(
        &mut self,
        at: BlockId,
        block: Block,
        cause: Cause,
    ) -> Result<(), EditRefusal> {
        if !self.events.has_room() {
            return Err(EditRefusal::Busy);
        }
        let block = block.canonical();
        let is = self.block(at).ok_or(EditRefusal::Nowhere)?;
        let ground = if at.set == SetId::ROOT {
            if railway::is_bed(at.cell) {
                return Err(EditRefusal::Railway);
            }
            at.cell
        } else {
            // Where the train has no floor there is no train. Without this rule it would grow, and
            // plough through its stations.
            if !self.train.has_floor(at.cell) {
                return Err(EditRefusal::Nowhere);
            }
            if at.sublayer == Sublayer::Walkable && block.is_empty() {
                return Err(EditRefusal::Railway);
            }
            self.train.cell_below(at.cell).ok_or(EditRefusal::Nowhere)?
        };
        if at.sublayer == Sublayer::Solid && !block.is_empty() && self.crowd.is_occupied(ground) {
            return Err(EditRefusal::Occupied);
        }
        if block != is {
            self.put(&[(at, block)], cause)
                .map_err(|NoRoom| EditRefusal::Full)?;
        }
        Ok(())
    }

    /// Moves the solid block at `from` one cell on.
    fn push(
        &mut self,
        who: EntityId,
        from: Cell,
        way: Direction,
        block: Block,
    ) -> Result<(), WalkRefusal> {
        let to = from.step(way).ok_or(WalkRefusal::Edge)?;
        let (source, target) = (self.solid_at(from), self.solid_at(to));
        // Not from the platform onto the train or back: the two come apart.
        let movable = block.is_pushable()
            && source.set == target.set
            && !(target.set == SetId::ROOT && railway::is_bed(to))
            && !self.crowd.is_occupied(to)
            && self.block(target).is_some_and(Block::is_empty)
            // Both cells may be the first of their chunks to change.
            && self.edits.has_room(2);
        if !movable {
            return Err(WalkRefusal::Blocked);
        }
        self.put(
            &[(source, Block::EMPTY), (target, block)],
            Cause::Pushed(who),
        )
        .map_err(|NoRoom| WalkRefusal::Blocked)
    }

    /// The solid block that one meets at a cell of the ground, which may be the train's.
    fn solid_at(&self, ground: Cell) -> BlockId {
        let sublayer = Sublayer::Solid;
        match self.train.cell_above(ground) {
            Some(cell) => BlockId {
                set: self.train.set(),
                cell,
                sublayer,
            },
            None => BlockId::root(ground, sublayer),
        }
    }

    /// Writes blocks, whatever the rules say, and tells of it. They are in the journal before anybody
    /// can hear of them, all of them or none.
    fn put(&mut self, blocks: &[(BlockId, Block)], cause: Cause) -> Result<(), NoRoom> {
        let mut entries = Vec::new();
        for &(at, block) in blocks {
            let Some(was) = self.block(at) else {
                continue;
            };
            let (version, entry) = self.edits.record(at, was, block)?;
            let chunk = if at.set == SetId::ROOT {
                self.land.chunk(at.cell.chunk(), &self.edits)
            } else {
                &mut self.train.cells
            };
            chunk.set_block(at.sublayer, at.cell.spot(), block);
            chunk.set_version(version);
            entries.push(entry);
            self.events.push(Event::BlockChanged { at, block, cause });
        }
        if let Some(store) = &mut self.store {
            store.journal(&entries);
        }
        Ok(())
    }

    pub(super) fn relocate(&mut self, entity: EntityId, to: Cell, how: Motion) {
        self.crowd.relocate(entity, to);
        self.events.push(Event::EntityMoved { entity, to, how });
    }

    /// Moves the train on, with those in it. Whoever it would run over finds itself beside the line.
    pub(super) fn run_train(&mut self) {
        let (set, at) = (self.train.set(), self.train.origin());
        let riders: Vec<EntityId> = self.riders().collect();
        let direction = match self.train.step() {
            None => return,
            Some(Course::Moved(direction)) => direction,
            Some(Course::Left) => {
                self.events.push(Event::TrainLeft { set });
                // They stand on the bed now, and whoever cannot is put beside it.
                for rider in riders {
                    self.put_beside(rider);
                }
                return;
            }
            Some(Course::Came) => {
                self.events.push(Event::TrainCame { set, at });
                let met: Vec<EntityId> = self.riders().collect();
                for entity in met {
                    self.put_beside(entity);
                }
                return;
            }
        };
        let to = self.train.origin();
        self.events.push(Event::TrainMoved { set, to });
        let everybody: Vec<(EntityId, Cell)> = self
            .crowd
            .iter()
            .map(|(id, entity)| (id, entity.position()))
            .collect();
        for (entity, at) in everybody {
            // Who stood on the train stands on it again one cell further.
            let ahead = at
                .step(direction)
                .filter(|&ahead| self.train.cell_above(ahead).is_some());
            if let Some(ahead) = ahead {
                self.relocate(entity, ahead, Motion::Carried(direction));
            } else if self.train.cell_above(at).is_some() {
                let aside = self.free_near(at).unwrap_or_else(|| self.spawn_cell(0));
                self.relocate(entity, aside, Motion::Displaced);
            }
        }
    }

    /// Those who stand where the train is.
    fn riders(&self) -> impl Iterator<Item = EntityId> {
        let everybody = self.crowd.iter();
        everybody
            .filter(|(_, entity)| self.train.cell_above(entity.position()).is_some())
            .map(|(id, _)| id)
    }

    fn put_beside(&mut self, entity: EntityId) {
        if let Some(at) = self.crowd.get(entity).map(Entity::position) {
            let aside = self.free_near(at).unwrap_or_else(|| self.spawn_cell(0));
            self.relocate(entity, aside, Motion::Displaced);
        }
    }

    /// Whether the train is there, or will be.
    pub(super) fn is_railway(&self, cell: Cell) -> bool {
        railway::is_bed(cell) || self.train.cell_above(cell).is_some()
    }

    /// A free cell not far from the plaza's middle.
    pub(super) fn spawn_cell(&mut self, reach: u8) -> Cell {
        let (east, south) = (sway(&mut self.random, reach), sway(&mut self.random, reach));
        let plaza = railway::PLAZA;
        let wanted = plaza.offset(east, south).unwrap_or(plaza);
        self.free_near(wanted).unwrap_or_else(|| {
            // Somebody has built over everything. The terrain is free here, so clearing the cell
            // takes an edit away, for which there is always room.
            let solid = BlockId::root(plaza, Sublayer::Solid);
            let cleared = self.put(&[(solid, Block::EMPTY)], Cause::Cleared);
            debug_assert!(cleared.is_ok(), "the plaza has solid terrain");
            plaza
        })
    }

    /// The nearest cell off the railway on which one can stand, if there is any close by.
    fn free_near(&mut self, around: Cell) -> Option<Cell> {
        (0..=SEARCH_REACH).find_map(|radius| {
            ring(radius)
                .filter_map(|(east, south)| around.offset(east, south))
                .find(|&cell| {
                    !self.is_railway(cell) && self.tile(cell).is_some_and(super::Tile::is_free)
                })
        })
    }
}

/// What lies exactly so many steps away, straight south first: that is the side of the railway that
/// the plaza is on.
fn ring(radius: i32) -> impl Iterator<Item = (i32, i32)> {
    let rows = (-radius..=radius).rev();
    rows.flat_map(move |south| (-radius..=radius).map(move |east| (east, south)))
        .filter(move |(east, south)| east.abs().max(south.abs()) == radius)
}

/// How far from a wanted cell a free one is looked for. It leads across the railway and its paths.
const SEARCH_REACH: i32 = 16;
