//! What was published, and what the server believes that each client holds.

use std::collections::BTreeMap;

use tickwire_dialects::reone::{AnyStatus, ClientId, ObjectId, Server, Snapshot, SnapshotSeq};
use tickwire_state::SightRange;

use super::game::Objects;

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
    /// Somebody was not told everything.
    is_rationed: bool,
}

impl Truth {
    /// A module begins, after the snapshot `newest`: clients hold its base without having been sent it.
    pub(super) fn begin(&mut self, newest: SnapshotSeq, base: &Objects) {
        self.bases.insert(newest, base.clone());
    }

    /// Takes down the newest snapshot, which was published and handed to the network.
    pub(super) fn record(
        &mut self,
        server: &Server,
        objects: &Objects,
        players: &BTreeMap<ClientId, ObjectId>,
    ) {
        let newest = server.newest();
        self.published.insert(newest, objects.clone());
        let rationed = server.counters().rationed;
        let is_rationed = rationed > self.rationed;
        self.rationed = rationed;
        for (client, _) in server.clients() {
            if let Some(objects) = server.view(client, newest) {
                let own = players.get(&client).copied();
                let view = View {
                    objects,
                    own,
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
        match view.is_rationed {
            true => Ok(()),
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
