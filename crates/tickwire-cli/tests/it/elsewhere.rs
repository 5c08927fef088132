//! lwar with a client and a server that are not ours: directly, and through the tunnel.
//!
//! They are `tests/elsewhere/lwar.py`, written from the protocol's WIRE.md alone.

use std::collections::BTreeSet;

use crate::command::{Running, run, start_elsewhere};
use crate::quic::{report, tunnel};

/// Two clients fly and greet each other; each fails unless it hears the other.
fn play_two(at: &str) -> Option<()> {
    let ada = start_elsewhere(&["client", at, "ada", "bob"])?;
    let bob = start_elsewhere(&["client", at, "bob", "ada"])?;
    for (client, name) in [(ada, "ada"), (bob, "bob")] {
        let done = client.wait();
        let said = format!("{name} flew, heard 1 and left\n");
        assert_eq!((done.code, done.stdout), (Some(0), said));
    }
    Some(())
}

fn serve_elsewhere() -> Option<(Running, String)> {
    let server = start_elsewhere(&["server"])?;
    let ready = server.line_with("ready");
    Some((server, ready.replace("ready ", "")))
}

#[test]
fn clients_from_elsewhere_play_on_our_server() {
    let (_server, at) = crate::command::serve("lwar", &[]);
    if play_two(&at.to_string()).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (_ends, at) = tunnel(folder.path(), at, [7, 7]);
    play_two(&at);
}

#[test]
fn our_clients_play_on_a_server_from_elsewhere() {
    let Some((server, at)) = serve_elsewhere() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (_ends, through) = tunnel(folder.path(), at.parse().unwrap(), [7, 7]);
    for at in [at, through] {
        let line = format!("bots lwar --connect {at} --count 2 --seconds 3 --json");
        let done = run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(done.code, Some(0), "{done:?}");
        assert_eq!(report(&done)["connected"].as_u64(), Some(2), "{done:?}");
        for word in ["joined", "joined", "left", "left"] {
            server.line_with(word);
        }
    }
}

#[test]
fn clients_and_server_from_elsewhere_play_through_a_tunnel() {
    let Some((server, at)) = serve_elsewhere() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (_ends, through) = tunnel(folder.path(), at.parse().unwrap(), [7, 7]);
    play_two(&through);
    // To the server each is an address of its own, and none of them is the near end's.
    let joined = [(); 2].map(|()| server.line_with("joined"));
    let addresses = joined.iter().filter_map(|line| line.rsplit(' ').next());
    let addresses: BTreeSet<_> = addresses.filter(|addr| **addr != *through).collect();
    assert_eq!(addresses.len(), 2, "{joined:?}");
}
