//! What was published, and what the server believes that each client holds.

use std::collections::BTreeMap;

use tickwire_dialects::reone::{
    AnyStatus, ClientId, GLOBAL, ObjectId, ScopeState, Server, Snapshot, SnapshotSeq,
};
use tickwire_state::SightRange;

use super::game::{Belongings, Game, Objects, velocity};

/// How far players see.
pub(super) const SIGHT: SightRange = SightRange {
    radius: 90.0,
    margin: 0.2,
};

#[derive(Default)]
pub(super) struct Truth {
    published: BTreeMap<SnapshotSeq, Objects>,
    /// What each module began with, by the last snapshot before it.
    bases: BTreeMap<SnapshotSeq, Objects>,
    views: BTreeMap<(ClientId, SnapshotSeq), View>,
    rationed: u64,
}

struct View {
    objects: BTreeMap<ObjectId, Option<AnyStatus>>,
    own: Option<ObjectId>,
    /// What belongs to whom, as the server believes the client to hold it, and as it was.
    scopes: Scopes,
    published: BTreeMap<ObjectId, Belongings>,
    /// Somebody was not told everything.
    is_rationed: bool,
}

/// What belongs to the scopes of which a client is told.
type Scopes = BTreeMap<ObjectId, Belongings>;

/// What belongs to a scope, in the game's own words.
fn belongings(state: &ScopeState) -> Belongings {
    let items = state.items().map(|(slot, item)| {
        assert_eq!(item.resref.as_str(), format!("i{slot}"));
        (slot, item.count.get())
    });
    let variables = state.variables();
    Belongings {
        items: items.collect(),
        variables: variables
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    }
}

impl Truth {
    /// A module begins, after the snapshot `newest`: clients hold its base without having been sent it.
    pub(super) fn begin(&mut self, newest: SnapshotSeq, base: &Objects) {
        self.bases.insert(newest, base.clone());
    }

    /// Takes down the newest snapshot, which was published and handed to the network.
    pub(super) fn record(&mut self, server: &Server, game: &Game) {
        let newest = server.newest();
        self.published.insert(newest, game.objects.clone());
        let rationed = server.counters().rationed;
        let is_rationed = rationed > self.rationed;
        self.rationed = rationed;
        for (client, _) in server.clients() {
            if let (Some(objects), Some(scopes)) =
                (server.view(client, newest), server.scopes(client, newest))
            {
                let own = game.players.get(&client).copied();
                let told = own.into_iter().chain([GLOBAL]);
                let told = told.filter_map(|scope| Some((scope, game.scopes.get(&scope)?.clone())));
                let told = told.filter(|(_, it)| *it != Belongings::default());
                let view = View {
                    objects,
                    own,
                    scopes: scopes
                        .iter()
                        .map(|(id, it)| (*id, belongings(it)))
                        .collect(),
                    published: told.collect(),
                    is_rationed,
                };
                self.views.insert((client, newest), view);
            }
        }
    }

    /// A client has this snapshot whole.
    pub(super) fn check(&self, client: ClientId, snapshot: &Snapshot) -> Result<(), String> {
        let sequence = snapshot.sequence;
        let view = self.views.get(&(client, sequence));
        let view = view.ok_or_else(|| format!("{sequence} was never sent to {client}"))?;
        let held: BTreeMap<_, _> = snapshot.objects().map(|(id, it)| (id, *it)).collect();
        if !held.keys().eq(view.objects.keys()) {
            return Err(format!(
                "{client}, {sequence}: other objects than were sent"
            ));
        }
        for (id, status) in &held {
            if view.objects[id].is_some_and(|sent| sent != *status) {
                return Err(format!("{client}, {sequence}: {id} is not what was sent"));
            }
            self.check_published(view, sequence, *id, status)
                .map_err(|fault| format!("{client}, {sequence}: {id} {fault}"))?;
        }
        let scopes: Scopes = snapshot
            .scopes()
            .map(|(id, it)| (id, belongings(it)))
            .collect();
        if scopes != view.scopes {
            return Err(format!("{client}, {sequence}: other things than were sent"));
        }
        let moving = view.own.filter(|own| held.contains_key(own));
        let told = moving.map(|own| snapshot.velocity(own));
        if told.is_some_and(|told| told != Some(velocity(snapshot.tick))) {
            return Err(format!(
                "{client}, {sequence}: {told:?} at tick {}",
                snapshot.tick
            ));
        }
        match view.is_rationed {
            true => Ok(()),
            false if scopes != view.published => {
                let (told, was) = (&scopes, &view.published);
                Err(format!("{client}, {sequence}: {told:?} instead of {was:?}"))
            }
            false => self
                .check_range(view, sequence, &held)
                .map_err(|fault| format!("{client}, {sequence}: {fault}")),
        }
    }

    /// An object is what it was then; or, if there was no room to say so, what it was before.
    fn check_published(
        &self,
        view: &View,
        sequence: SnapshotSeq,
        id: ObjectId,
        status: &AnyStatus,
    ) -> Result<(), &'static str> {
        let is_then = self.published[&sequence].get(&id) == Some(status);
        let is_old = || {
            let (began, base) = self.bases.range(..sequence).next_back()?;
            let before = self.published.range(began.next()..sequence).rev();
            let mut before = before.map(|(_, objects)| objects).chain([base]);
            before.find(|objects| objects.get(&id) == Some(status))
        };
        match (is_then, view.is_rationed) {
            (true, _) => Ok(()),
            (false, true) if view.own == Some(id) => Err("is the player's own, and late"),
            (false, true) if is_old().is_some() => Ok(()),
            _ => Err("was never like this"),
        }
    }

    /// Everything in range is there, and nothing that is far out of it.
    fn check_range(
        &self,
        view: &View,
        sequence: SnapshotSeq,
        held: &Objects,
    ) -> Result<(), String> {
        let published = &self.published[&sequence];
        let Some(own) = view.own.and_then(|own| published.get(&own)) else {
            return Ok(());
        };
        let eye = own.pos();
        for (id, status) in published {
            let pos = status.pos();
            let distance = (pos.x - eye.x).hypot(pos.y - eye.y);
            let is_held = held.contains_key(id);
            if is_held && distance > SIGHT.radius * (1.0 + SIGHT.margin) + 1e-3 {
                return Err(format!("{id} is held from {distance} away"));
            }
            if !is_held && distance < SIGHT.radius - 1e-3 {
                return Err(format!("{id} is missed at {distance}"));
            }
        }
        Ok(())
    }
}
