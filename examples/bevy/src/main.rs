//! Ships in Bevy: `tickwire-bevy serve` in one terminal, `tickwire-bevy` in as many others as you like.
//!
//! The server has no window; its drones are Bevy entities that it publishes. A client's own ship is predicted, everything
//! else shown between two states that arrived. Arrows fly. `tickwire-bevy watch` is a client that needs no screen.

use std::{env, error, time::Duration};

use bevy::app::ScheduleRunnerPlugin;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use tickwire::{Archetypes, Client, EntityId, EntityMap, Game, Replicate, Server, ServerEvent};

const ADDRESS: &str = "127.0.0.1:7777";

#[derive(Clone, Debug, Default, Replicate)]
struct Ship {
    #[replicate(position, step = 0.05)]
    at: [f32; 2],
    #[replicate(angle, bits = 12)]
    heading: f32,
    #[replicate(step = 0.01)]
    speed: f32,
}

#[derive(Archetypes)]
enum Thing {
    Ship(Ship),
}

#[derive(Clone, Default, Replicate)]
struct Stick {
    #[replicate(range = -1..=1)]
    turn: i8,
    thrust: bool,
}

struct Ships;

impl Game for Ships {
    type Things = Thing;
    type Input = Stick;
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;

    fn step(Thing::Ship(ship): &mut Thing, stick: &Stick) {
        ship.fly(stick.turn, stick.thrust);
    }
}

impl Ship {
    fn fly(&mut self, turn: i8, thrust: bool) {
        self.heading += f32::from(turn) * 0.06;
        self.speed = self.speed * 0.98 + if thrust { 0.12 } else { 0.0 };
        self.at[0] = (self.at[0] + self.heading.cos() * self.speed).clamp(-600.0, 600.0);
        self.at[1] = (self.at[1] + self.heading.sin() * self.speed).clamp(-330.0, 330.0);
    }
}

/// A drone of the server's world, and what stands for it on the wire.
#[derive(Component)]
struct Drone(Ship, EntityId);

/// On the server, every frame: the ticks that are due.
fn serve(mut server: NonSendMut<Server<Ships>>, mut drones: Query<&mut Drone>) -> Result {
    for _ in 0..server.update()? {
        while let Some(event) = server.event() {
            info!("{event:?}");
            if let ServerEvent::Joined { player, .. } = event {
                server.spawn_own(player, Ship::default())?;
            }
        }
        server.advance_all()?;
        for mut drone in &mut drones {
            drone.0.fly(1, true);
            server.set(drone.1, &drone.0)?;
        }
        server.end_tick();
    }
    Ok(())
}

/// On a client, every frame: keys go in, and Bevy's entities follow what is in view.
fn play(
    mut client: NonSendMut<Client<Ships>>,
    keys: Res<ButtonInput<KeyCode>>,
    mut sprites: Local<EntityMap<Entity>>,
    mut commands: Commands,
) -> Result {
    let held = [KeyCode::ArrowLeft, KeyCode::ArrowRight, KeyCode::ArrowUp];
    let [left, right, thrust] = held.map(|code| keys.pressed(code));
    let turn = i8::from(left) - i8::from(right);
    client.set_input(Stick { turn, thrust });
    client.update()?; // An error once it is over, with which Bevy ends.
    while let Some(event) = client.event() {
        if let Some(gone) = sprites.follow(&event, |_, _| commands.spawn_empty().id()) {
            commands.entity(gone).despawn();
        }
    }
    let own = client.own::<Ship>().map(|(id, _)| id);
    for (id, ship) in client.view::<Ship>() {
        let hue = if Some(id) == own { 130.0 } else { 40.0 };
        let body = Sprite::from_color(Color::hsl(hue, 0.6, 0.6), Vec2::new(24.0, 10.0));
        let mut place = Transform::from_rotation(Quat::from_rotation_z(ship.heading));
        place.translation = Vec2::from(ship.at).extend(0.0);
        if let Some(sprite) = sprites.get(id) {
            commands.entity(*sprite).insert((body, place));
        }
    }
    Ok(())
}

/// On a client, now and then: how many things Bevy has, and where the first of them is.
fn report(places: Query<&Transform, With<Sprite>>, time: Res<Time>, mut next: Local<f32>) {
    if time.elapsed_secs() >= *next {
        *next += 1.0;
        let places: Vec<_> = places.iter().map(|it| it.translation.xy()).collect();
        info!("{} ships, the first at {:?}", places.len(), places.first());
    }
}

fn main() -> Result<AppExit, Box<dyn error::Error>> {
    let mut app = App::new();
    let word = env::args().nth(1);
    if word.is_some() {
        let windowless = ScheduleRunnerPlugin::run_loop(Duration::from_millis(4));
        app.add_plugins((MinimalPlugins.set(windowless), LogPlugin::default()));
    } else {
        app.add_plugins(DefaultPlugins);
        app.world_mut().spawn(Camera2d);
    }
    if word.as_deref() == Some("serve") {
        let mut server = Server::<Ships>::bind(ADDRESS)?;
        for number in 0..24_u16 {
            let mut ship = Ship::default();
            ship.heading = f32::from(number);
            ship.at = [ship.heading * 40.0 - 480.0, ship.heading.sin() * 200.0];
            app.world_mut()
                .spawn(Drone(ship.clone(), server.spawn(ship)?));
        }
        app.insert_non_send(server).add_systems(Update, serve);
    } else {
        let client = Client::<Ships>::connect(ADDRESS)?;
        app.insert_non_send(client)
            .init_resource::<ButtonInput<KeyCode>>();
        app.add_systems(Update, (play, report));
    }
    Ok(app.run())
}
