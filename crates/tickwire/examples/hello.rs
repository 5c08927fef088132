//! The smallest game: every player is a dot, and moves it. `hello serve`, then `hello` in other terminals.

use std::thread::sleep;
use std::time::{Duration, Instant};

use tickwire::{Archetypes, Client, ClientEvent, Game, Replicate, Server, ServerEvent};

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

    fn step(own: &mut Thing, stick: &Stick) {
        let Thing::Dot(dot) = own;
        dot.at[0] += f32::from(stick.right) * 0.1;
    }
}

fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let mut server = Server::<Hello>::bind("127.0.0.1:7777")?;
    println!("ready");
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

fn play() -> Result<(), Box<dyn std::error::Error>> {
    let mut client = Client::<Hello>::connect("127.0.0.1:7777")?;
    let began = Instant::now();
    for frame in 0_u64.. {
        let right = if began.elapsed().as_secs().is_multiple_of(2) {
            1
        } else {
            -1
        };
        client.set_input(Stick { right });
        client.update()?;
        while let Some(event) = client.event() {
            if let ClientEvent::Ended { why, words } = event {
                return Err(format!("{why} {words}").into());
            }
        }
        if frame.is_multiple_of(60) {
            let dots: Vec<_> = client.view::<Dot>().collect();
            println!("{dots:?}, own {:?}", client.own::<Dot>());
        }
        sleep(Duration::from_millis(16));
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("serve") => serve(),
        _ => play(),
    }
}
