//! Pong: `cargo run --package tickwire --example pong`, and for the other player with `-- 127.0.0.1:7777`.

use std::{env, error, io, process::Command, sync::mpsc::channel, thread, time::Duration};

use tickwire::{Archetypes, Client, EntityId, Game, Replicate, Server, ServerEvent};

/// A paddle, or the ball.
#[derive(Clone, Default, Replicate)]
struct Body {
    // A new ball jumps to the middle, rather than sliding there.
    #[replicate(position, step = 0.01, jump_over = 5.0)]
    at: [f32; 2],
    height: u8,
    points: u8,
}

#[derive(Archetypes)]
enum Thing {
    Body(Body),
}

struct Pong;

impl Game for Pong {
    type Things = Thing;
    type Input = i8;
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;

    fn step(Thing::Body(paddle): &mut Thing, down: &i8) {
        paddle.at[1] = (paddle.at[1] + f32::from(*down) * 0.3).clamp(2.5, 17.5);
    }
}

/// A tick: whoever comes gets a free side, and the ball flies while there are two. Behind one, the other scores.
fn serve(host: &mut (Server<Pong>, EntityId, [f32; 2])) -> Result<(), Box<dyn error::Error>> {
    let (server, ball, speed) = host;
    server.advance_all()?;
    let own = server.players().filter_map(|it| server.own(it.0));
    let paddles: Vec<(_, Body)> = own.filter_map(|id| Some((id, server.get(id)?))).collect();
    if let (Some(ServerEvent::Joined { player, .. }), ..2) = (server.event(), paddles.len()) {
        let x = paddles.first().map_or(1.5, |(_, it)| 60.0 - it.at[0]);
        let (at, height, points) = ([x, 10.0], 5, 0);
        server.spawn_own(player, Body { at, height, points })?;
    }
    if let (2, Some(mut it)) = (paddles.len(), server.get::<Body>(*ball)) {
        it.at = [it.at[0] + speed[0], it.at[1] + speed[1]];
        if it.at[1] < 0.5 || it.at[1] > 19.5 {
            speed[1] = 0.3_f32.copysign(10.0 - it.at[1]);
        }
        for (id, mut paddle) in paddles {
            let [x, y] = [it.at[0] - paddle.at[0], it.at[1] - paddle.at[1]];
            if x.abs() < 0.5 && y.abs() <= 2.5 {
                *speed = [0.4_f32.copysign(30.0 - paddle.at[0]), y * 0.12];
            } else if x.abs() > 59.0 {
                paddle.points = paddle.points.wrapping_add(1);
                server.set(id, &paddle)?;
                it.at = [30.0, 10.0];
            }
        }
        server.set(*ball, &it)?;
    }
    Ok(server.tick().map(drop)?)
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let (mut host, mut client) = if let Some(addr) = env::args().nth(1) {
        (None, Client::<Pong>::connect(addr)?)
    } else {
        let mut server = Server::bind("127.0.0.1:7777")?;
        let (at, height, points) = ([30.0, 10.0], 1, 0);
        let ball = server.spawn(Body { at, height, points })?;
        let client = server.local_client("host")?;
        (Some((server, ball, [0.4, 0.02])), client)
    };
    let (sender, keys) = channel();
    let mut typed = io::Read::bytes(io::stdin()).map_while(Result::ok);
    thread::spawn(move || typed.try_for_each(|it| sender.send(it)));
    Command::new("stty").args(["-icanon", "-echo"]).status()?;
    let mut key = b' ';
    while key != b'q' {
        key = keys.try_recv().unwrap_or(key);
        client.set_input(i8::from(key == b's') - i8::from(key == b'w'));
        client.update()?;
        while client.event().is_some() {}
        print!("\x1b[2J\x1b[Hw up, s down, space stops, q ends");
        for (_, Body { at, height, points }) in client.view() {
            let (row, column) = (at[1] + 2.0 - f32::from(height) / 2.0, at[0] + 1.0);
            let body = "\x1b[B\x1b[D#".repeat(height.into());
            print!("\x1b[{row:.0};{column:.0}H{points}{body}");
        }
        println!();
        match &mut host {
            Some(host) => serve(host)?,
            None => thread::sleep(Duration::from_millis(16)),
        }
    }
    Ok(Command::new("stty").arg("sane").status().map(drop)?)
}
