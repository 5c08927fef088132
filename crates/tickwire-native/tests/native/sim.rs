//! Many seeds, each another network, another course of events.

use std::time::Duration;

use tickwire_native::{ClientEvent, Phase};
use tickwire_sim::{Chance, Conditions, Rng, TraceHash, Way};

use crate::duel::{Rock, Ship, Stick, Table, Word};
use crate::seeds::{OneIn, check};

/// As bad as a network gets here.
const WORST: Conditions = Conditions {
    latency: Duration::from_millis(150),
    jitter: Duration::from_millis(80),
    loss: Chance::percent(40),
    bursts: None,
    duplication: Chance::percent(10),
    reordering: Chance::percent(10),
    reordering_delay: Duration::from_millis(60),
    bottleneck: None,
};

fn below(rng: &mut Rng, end: u64) -> u64 {
    rng.within(0..=end.max(1) - 1)
}

/// Everybody flies, talks and sleeps on a bad network; when it is good again, everybody agrees.
fn play(seed: u64) -> Result<TraceHash, String> {
    let mut rng = Rng::new(seed);
    let mut table = Table::new(seed, Conditions::IDEAL);
    let players = 1 + usize::try_from(below(&mut rng, 4)).expect("a few");
    for rock in 0..below(&mut rng, 40) {
        #[expect(clippy::cast_precision_loss, reason = "a few rocks")]
        let at = [rock as f32 * 7.0, 3.0];
        table
            .server
            .spawn(Rock { at })
            .map_err(|error| error.to_string())?;
    }
    let mut said = vec![0_u32; players];
    for number in 0..players {
        table.join(&format!("player {number}"));
    }
    // Whoever does not get in within 15 s gives up, as it should; what is tested here is playing.
    table.run(60);
    table
        .net
        .set_conditions(Conditions::random(&mut rng, &WORST));
    for _ in 0..40 {
        let client = usize::try_from(below(&mut rng, players as u64)).expect("a client");
        match below(&mut rng, 6) {
            0 => {
                let word = Word(u32::try_from(client).expect("a few") << 16 | said[client]);
                if table.clients[client].say(&word).is_ok() {
                    said[client] += 1;
                }
            }
            1 => {
                let (server, node) = (table.server_node(), table.node(client));
                table.net.partition(server, node);
                table.run(u32::try_from(below(&mut rng, 200)).expect("small"));
                table.net.heal(server, node);
            }
            2 => {
                let ways = [table.server_node(), table.node(client)];
                let largest = if below(&mut rng, 2) == 0 { 0 } else { 1_200 };
                let [from, to] = ways;
                table.net.set_largest_datagram(Way { from, to }, largest);
                table
                    .net
                    .set_largest_datagram(Way { from: to, to: from }, largest);
            }
            _ => {
                let direction = |n: u64| i8::try_from(n).expect("small") - 1;
                let stick = Stick {
                    right: direction(below(&mut rng, 3)),
                    up: direction(below(&mut rng, 3)),
                };
                table.clients[client].set_input(stick);
            }
        }
        table.run(u32::try_from(below(&mut rng, 20)).expect("small"));
    }
    settle(&mut table, players)?;
    agree(&table)?;
    for (client, told) in table.told.iter().enumerate() {
        once_and_in_order(told, &said).map_err(|error| format!("client {client}: {error}"))?;
    }
    Ok(table.net.trace_hash())
}

/// The faults end, and everybody lets go of the stick.
fn settle(table: &mut Table, players: usize) -> Result<(), String> {
    table.net.set_conditions(Conditions {
        latency: Duration::from_millis(20),
        ..Conditions::IDEAL
    });
    for client in 0..players {
        let (from, to) = (table.server_node(), table.node(client));
        for way in [Way { from, to }, Way { from: to, to: from }] {
            table.net.set_largest_datagram(way, 1_200);
        }
        table.net.heal(from, to);
        table.clients[client].set_input(Stick::default());
    }
    table.run(60 * 25);
    for client in &table.clients {
        if client.phase() != Phase::Playing {
            return Err(format!("{client:?}"));
        }
    }
    Ok(())
}

/// What everybody sees is what there is.
fn agree(table: &Table) -> Result<(), String> {
    for (number, client) in table.clients.iter().enumerate() {
        for (_, ship) in &table.ships {
            let (truth, seen) = (table.server.get::<Ship>(*ship), client.get::<Ship>(*ship));
            if truth != seen {
                return Err(format!(
                    "client {number}: {ship} is {truth:?}, seen {seen:?}"
                ));
            }
        }
        let rocks = client.view::<Rock>().count();
        let all = table.server.world().len() as usize - table.ships.len();
        if rocks != all {
            return Err(format!("client {number} sees {rocks} of {all} rocks"));
        }
    }
    Ok(())
}

/// Of each speaker's words, those that are heard come in order and without gaps.
fn once_and_in_order(told: &[ClientEvent<crate::duel::Duel>], said: &[u32]) -> Result<(), String> {
    for (speaker, count) in (0_u32..).zip(said) {
        let words = told.iter().filter_map(|event| match event {
            ClientEvent::Said(Word(word)) if word >> 16 == speaker => Some(word & 0xffff),
            _ => None,
        });
        let words: Vec<_> = words.collect();
        let first = words.first().copied().unwrap_or(*count);
        if !words.iter().copied().eq(first..*count) {
            return Err(format!("of {count} words of {speaker}: {words:?}"));
        }
    }
    Ok(())
}

#[test]
fn everybody_agrees() {
    check("native::everybody_agrees", OneIn(4), play);
}
