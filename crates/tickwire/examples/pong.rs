//! Pong for two, in the terminal: whoever hosts is a player like the other.
//!
//! `cargo run --package tickwire --example pong`, and in another terminal the same with `-- 127.0.0.1:7777`.
//! `w` goes up, `s` down, space stops, `q` leaves.

use std::io::{Read as _, stdin};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::{env, error, thread, time::Duration};

use tickwire::{
    Archetypes, Client, ClientEvent, EntityId, Game, PlayerId, Replicate, Server, ServerEvent,
};

const FIELD: [f32; 2] = [60.0, 20.0];
const MIDDLE: [f32; 2] = [30.0, 10.0];
const REACH: f32 = 2.5;

#[derive(Clone, Debug, Default, Replicate)]
struct Paddle {
    #[replicate(position, step = 0.01)]
    at: [f32; 2],
    points: u8,
}

#[derive(Clone, Debug, Default, Replicate)]
struct Ball {
    // A new ball jumps to the middle, rather than sliding there.
    #[replicate(position, step = 0.01, jump_over = 5.0)]
    at: [f32; 2],
}

#[derive(Archetypes)]
enum Thing {
    Paddle(Paddle),
    Ball(Ball),
}

#[derive(Clone, Default, Replicate)]
struct Stick {
    #[replicate(range = -1..=1)]
    down: i8,
}

struct Pong;

impl Game for Pong {
    type Things = Thing;
    type Input = Stick;
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;

    fn step(own: &mut Thing, stick: &Stick) {
        if let Thing::Paddle(paddle) = own {
            let y = paddle.at[1] + f32::from(stick.down) * 0.3;
            paddle.at[1] = y.clamp(REACH, FIELD[1] - REACH);
        }
    }
}

/// The host's side: two paddles, and a ball that only the server moves.
struct Table {
    server: Server<Pong>,
    players: Vec<PlayerId>,
    ball: EntityId,
    speed: [f32; 2],
}

impl Table {
    fn open() -> Result<Self, Box<dyn error::Error>> {
        let mut server = Server::bind("127.0.0.1:7777")?;
        Ok(Self {
            ball: server.spawn(Ball { at: MIDDLE })?,
            server,
            players: Vec::new(),
            speed: [0.4, 0.02],
        })
    }

    fn tick(&mut self) -> Result<(), Box<dyn error::Error>> {
        while let Some(event) = self.server.event() {
            match event {
                // Whoever comes third looks on.
                ServerEvent::Joined { player, .. } if self.players.len() < 2 => {
                    let is_left_free = self.paddles().all(|(_, paddle)| paddle.at[0] > MIDDLE[0]);
                    let x = if is_left_free { 1.5 } else { FIELD[0] - 1.5 };
                    let at = [x, MIDDLE[1]];
                    self.server.spawn_own(player, Paddle { at, points: 0 })?;
                    self.players.push(player);
                }
                ServerEvent::Left { player, .. } => {
                    self.players.retain(|it| *it != player);
                    if let Some(paddle) = self.server.own(player) {
                        self.server.despawn(paddle)?;
                    }
                }
                _ => {}
            }
        }
        self.server.advance_all()?;
        if self.players.len() == 2 {
            self.move_ball()?;
        }
        self.server.tick()?;
        Ok(())
    }

    fn paddles(&self) -> impl Iterator<Item = (EntityId, Paddle)> {
        let own = self.players.iter().filter_map(|it| self.server.own(*it));
        own.filter_map(|id| Some((id, self.server.get(id)?)))
    }

    fn move_ball(&mut self) -> Result<(), Box<dyn error::Error>> {
        let mut ball: Ball = self.server.get(self.ball).unwrap_or_default();
        ball.at = [ball.at[0] + self.speed[0], ball.at[1] + self.speed[1]];
        if !(0.5..FIELD[1] - 0.5).contains(&ball.at[1]) {
            self.speed[1] = -self.speed[1];
            ball.at[1] = ball.at[1].clamp(0.5, FIELD[1] - 0.5);
        }
        let paddles: Vec<_> = self.paddles().collect();
        for (id, mut paddle) in paddles {
            let [x, y] = [ball.at[0] - paddle.at[0], ball.at[1] - paddle.at[1]];
            let is_behind = (ball.at[0] - MIDDLE[0]) * (paddle.at[0] - MIDDLE[0]) < 0.0;
            if x.abs() < 0.5 && y.abs() <= REACH {
                self.speed = [0.4_f32.copysign(MIDDLE[0] - paddle.at[0]), y * 0.12];
            } else if is_behind && !(0.0..FIELD[0]).contains(&ball.at[0]) {
                paddle.points = paddle.points.saturating_add(1);
                self.server.set(id, &paddle)?;
                ball.at = MIDDLE;
            }
        }
        self.server.set(self.ball, &ball)?;
        Ok(())
    }
}

/// Everything in view, as text: a cell shows what lies in it.
fn picture(client: &Client<Pong>) -> String {
    let paddles: Vec<_> = client.view::<Paddle>().map(|(_, it)| it).collect();
    let ball = client.view::<Ball>().next().map(|(_, ball)| ball.at);
    let mut out = String::from("\x1b[H");
    for row in 0..20_u8 {
        for column in 0..60_u8 {
            let from = |at: [f32; 2]| [at[0] - f32::from(column), at[1] - f32::from(row)];
            let is_ball = ball.is_some_and(|at| from(at).iter().all(|it| (0.0..1.0).contains(it)));
            let is_paddle = paddles.iter().any(|paddle| {
                let [x, y] = from(paddle.at);
                (0.0..1.0).contains(&x) && (y - 0.5).abs() <= REACH
            });
            out.push(match (is_ball, is_paddle) {
                (true, _) => 'o',
                (_, true) => '#',
                _ => ' ',
            });
        }
        out.push_str("|\r\n");
    }
    let points = [true, false].map(|is_left| {
        let paddle = paddles.iter().find(|it| (it.at[0] < MIDDLE[0]) == is_left);
        paddle.map_or(0, |it| it.points)
    });
    out + &format!("{points:?}  w s space q \x1b[K")
}

fn play(
    mut table: Option<&mut Table>,
    client: &mut Client<Pong>,
    keys: &Receiver<u8>,
) -> Result<(), Box<dyn error::Error>> {
    loop {
        match keys.try_recv() {
            Ok(b'w') => client.set_input(Stick { down: -1 }),
            Ok(b's') => client.set_input(Stick { down: 1 }),
            Ok(b' ') => client.set_input(Stick::default()),
            Ok(b'q') => return Ok(()),
            _ => {}
        }
        // The server waits for its next tick; without one, the screen has a rate of its own.
        match &mut table {
            Some(table) => table.tick()?,
            None => thread::sleep(Duration::from_millis(16)),
        }
        client.update()?;
        while let Some(event) = client.event() {
            if let ClientEvent::Ended { why, words } = event {
                return Err(format!("{why} {words}").into());
            }
        }
        print!("{}", picture(client));
    }
}

fn keys() -> Receiver<u8> {
    let (sender, keys) = channel();
    thread::spawn(move || {
        for key in stdin().lock().bytes().map_while(Result::ok) {
            if sender.send(key).is_err() {
                return;
            }
        }
    });
    keys
}

/// Keys without Enter, where there is a terminal that can; elsewhere they need it.
fn set_terminal(modes: &[&str]) {
    Command::new("stty").args(modes).status().ok();
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let (mut table, mut client) = match env::args().nth(1) {
        Some(addr) => (None, Client::connect(addr)?),
        None => {
            let table = Table::open()?;
            let client = table.server.local_client("host")?;
            (Some(table), client)
        }
    };
    set_terminal(&["-icanon", "-echo"]);
    print!("\x1b[2J\x1b[?25l");
    let ended = play(table.as_mut(), &mut client, &keys());
    println!("\x1b[?25h");
    set_terminal(&["icanon", "echo"]);
    ended?;
    match table {
        Some(table) => table.server.shut_down()?,
        None => client.leave()?,
    }
    Ok(())
}
