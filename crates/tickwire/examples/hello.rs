//! The smallest game of your own: every player has a dot, and moves it.

use std::{env, error, thread, time};

use tickwire::{Archetypes, Client, Game, Replicate, Server, ServerEvent};

#[derive(Clone, Debug, Default, Replicate)]
struct Dot {
    #[replicate(position, step = 0.01)]
    at: [f32; 2],
}

#[derive(Archetypes)]
enum Thing {
    Dot(Dot),
}

#[derive(Clone, Default, Replicate)]
struct Stick {
    #[replicate(range = -1..=1)]
    right: i8,
}

struct Hello;

impl Game for Hello {
    type Things = Thing;
    type Input = Stick;
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;

    // One tick of a player's own thing: on the server and, ahead of it, on that player's client.
    fn step(own: &mut Thing, stick: &Stick) {
        let Thing::Dot(dot) = own;
        dot.at[0] += f32::from(stick.right) * 0.1;
    }
}

fn serve(addr: &str) -> Result<(), Box<dyn error::Error>> {
    let mut server = Server::<Hello>::bind(addr)?;
    loop {
        while let Some(event) = server.event() {
            println!("{event:?}");
            if let ServerEvent::Joined { player, .. } = event {
                server.spawn_own(player, Dot::default())?;
            }
        }
        server.advance_all()?;
        server.tick()?;
    }
}

fn play(addr: &str) -> Result<(), Box<dyn error::Error>> {
    let mut client = Client::<Hello>::connect(addr)?;
    loop {
        client.set_input(Stick { right: 1 });
        client.update()?;
        while let Some(event) = client.event() {
            println!("{event:?}");
        }
        let dots: Vec<_> = client.view::<Dot>().map(|(_, dot)| dot.at).collect();
        println!("{dots:?}");
        thread::sleep(time::Duration::from_millis(16));
    }
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let words: Vec<String> = env::args().collect();
    match words.get(1).map(String::as_str) {
        Some("serve") => serve(words.get(2).map_or("127.0.0.1:7777", String::as_str)),
        addr => play(addr.unwrap_or("127.0.0.1:7777")),
    }
}
