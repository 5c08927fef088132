//! `cargo xtask nat`: which path two players use through real routers, and how soon.
//!
//! In: nothing but this machine. Out: a table. Every player, router and the rendezvous server is a network
//! namespace; routers are nftables rules. All of it lives in namespaces of one child process, mounts and process
//! numbers included, so that it is gone with that process, however it ends: by Ctrl-C and by SIGKILL, too.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use crate::cargo::Cargo;

/// Joins games through real routers, made of network namespaces, and prints which path was used.
///
/// Needs root, Linux, and the programs `ip`, `nft` and `unshare`; it installs nothing. What it makes is gone
/// when it ends, and nothing outside of it is touched.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run in the namespaces that were made: how the command calls itself
    #[arg(long, hide = true)]
    inside: bool,
    /// What each machine's way out takes, in milliseconds; needs a kernel with netem
    #[arg(long, value_name = "N", default_value_t = 0)]
    latency: u32,
}

/// How a router treats datagrams.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Router {
    None,
    FullCone,
    PortRestricted,
    Symmetric,
    UdpBlocked,
    /// The host's own, for a joiner in the same house.
    Same,
}

const HOSTS: [Router; 5] = [
    Router::None,
    Router::FullCone,
    Router::PortRestricted,
    Router::Symmetric,
    Router::UdpBlocked,
];

/// The program under test.
const PROGRAM: &str = "target/debug/tickwire";
/// Addresses for documentation (RFC 5737): nobody has them.
const SERVER: &str = "198.51.100.1";
/// How long a line of a program is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.inside {
        return run_inside(args.latency);
    }
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    ensure!(
        is_root,
        "network namespaces need root: run it again with sudo"
    );
    for program in ["ip", "nft", "unshare"] {
        let found = Command::new(program).arg("--help").output();
        ensure!(
            found.is_ok(),
            "{program} is missing: apt-get install iproute2 nftables util-linux"
        );
    }
    if !Cargo::new("build -p tickwire-cli").run()?.success() {
        return Ok(ExitCode::FAILURE);
    }
    let own = std::env::current_exe().context("finding this program")?;
    let status = Command::new("unshare")
        .args(["--mount", "--net", "--pid", "--fork", "--kill-child"])
        .arg(own)
        .args(["nat", "--inside", "--latency", &args.latency.to_string()])
        .status()
        .context("starting unshare")?;
    Ok(match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn run_inside(latency: u32) -> anyhow::Result<ExitCode> {
    // Names of namespaces are mounts. These are seen by nobody else.
    for made in [
        "mount --make-rprivate /",
        "mount -t tmpfs tmpfs /run",
        "mkdir /run/netns",
        "mount -t tmpfs tmpfs /tmp",
    ] {
        shell(made)?;
    }
    build_internet(latency)?;
    println!("| host | joiner | path | from the start of `bots` to the path |");
    println!("|---|---|---|---|");
    for host in HOSTS {
        let same = [Router::Same];
        let joiners = HOSTS
            .iter()
            .chain(same.iter().filter(|_| host != Router::None));
        for &joiner in joiners {
            let (path, took) = join(host, joiner, latency)
                .with_context(|| format!("{} and {}", host.word(), joiner.word()))?;
            println!(
                "| {} | {} | {path} | {} ms |",
                host.word(),
                joiner.word(),
                took.as_millis()
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A switch with the rendezvous server on it.
fn build_internet(latency: u32) -> anyhow::Result<()> {
    shell("ip link set lo up")?;
    shell("ip link add internet type bridge")?;
    shell("ip link set internet up")?;
    add_machine("server", SERVER, latency)
}

/// A machine with an address of its own.
fn add_machine(name: &str, addr: &str, latency: u32) -> anyhow::Result<()> {
    for line in [
        format!("ip netns add {name}"),
        format!("ip -n {name} link set lo up"),
        format!("ip link add {name} type veth peer name wan netns {name}"),
        format!("ip link set {name} master internet up"),
        format!("ip -n {name} addr add {addr}/24 dev wan"),
        format!("ip -n {name} link set wan up"),
    ] {
        shell(&line)?;
    }
    match latency {
        0 => Ok(()),
        _ => shell(&format!(
            "ip netns exec {name} tc qdisc add dev wan root netem delay {latency}ms"
        )),
    }
}

/// A machine in a house: behind a router, which is made if this is the first.
fn add_house(house: &str, number: u8, router: Router, latency: u32) -> anyhow::Result<()> {
    add_machine(house, &format!("198.51.100.{number}0"), latency)?;
    for line in [
        format!("ip netns exec {house} sysctl -qw net.ipv4.ip_forward=1"),
        format!("ip -n {house} link add lan type bridge"),
        format!("ip -n {house} addr add 10.{number}.0.1/24 dev lan"),
        format!("ip -n {house} link set lan up"),
    ] {
        shell(&line)?;
    }
    let rules = router.rules(&format!("10.{number}.0.2"));
    let file = format!("/tmp/{house}.nft");
    fs::write(&file, rules).with_context(|| format!("writing {file}"))?;
    shell(&format!("ip netns exec {house} nft -f {file}"))
}

fn add_room(name: &str, house: &str, addr: &str) -> anyhow::Result<()> {
    let router = addr.rsplit_once('.').map_or(addr, |(network, _)| network);
    for line in [
        format!("ip netns add {name}"),
        format!("ip -n {name} link set lo up"),
        format!("ip -n {house} link add {name} type veth peer name eth netns {name}"),
        format!("ip -n {house} link set {name} master lan up"),
        format!("ip -n {name} addr add {addr}/24 dev eth"),
        format!("ip -n {name} link set eth up"),
        format!("ip -n {name} route add default via {router}.1"),
    ] {
        shell(&line)?;
    }
    Ok(())
}

impl Router {
    const fn word(self) -> &'static str {
        match self {
            Self::None => "no router",
            Self::FullCone => "full cone",
            Self::PortRestricted => "port-restricted",
            Self::Symmetric => "symmetric",
            Self::UdpBlocked => "UDP blocked",
            Self::Same => "the host's own router",
        }
    }

    /// Its rules; `inside` is the machine that a full cone lets everybody reach.
    fn rules(self, inside: &str) -> String {
        let (masquerade, cone, forward) = match self {
            Self::FullCone => (
                "masquerade",
                format!("iifname wan udp dport 1024-65535 dnat ip to {inside};"),
                "",
            ),
            Self::Symmetric => ("masquerade fully-random", String::new(), ""),
            Self::UdpBlocked => (
                "masquerade",
                String::new(),
                "oifname wan meta l4proto udp drop;",
            ),
            Self::None | Self::PortRestricted | Self::Same => ("masquerade", String::new(), ""),
        };
        // What nobody asked for is dropped unseen, as home routers do: a connection that the kernel had taken
        // note of would keep its port from the player whose packet comes a moment later.
        format!(
            "table ip nat {{
               chain pre {{ type nat hook prerouting priority dstnat; {cone} }}
               chain post {{ type nat hook postrouting priority srcnat; oifname wan {masquerade}; }}
             }}
             table ip guard {{
               chain input {{ type filter hook input priority filter; iifname wan ct state new drop; }}
               chain forward {{ type filter hook forward priority filter; {forward} }}
             }}"
        )
    }
}

/// Has one player host behind one router and another join behind the other. Returns the path, and how soon it
/// was found.
fn join(host: Router, joiner: Router, latency: u32) -> anyhow::Result<(String, Duration)> {
    place("host", "house", 1, host, latency)?;
    match joiner {
        Router::Same => add_room("joiner", "house", "10.1.0.3")?,
        _ => place("joiner", "flat", 2, joiner, latency)?,
    }
    let played = play();
    for name in ["joiner", "flat", "host", "house"] {
        // Those that were not made for this pair.
        shell(&format!("ip netns del {name}")).ok();
        shell(&format!("ip link del {name}")).ok();
    }
    played
}

fn place(name: &str, house: &str, number: u8, router: Router, latency: u32) -> anyhow::Result<()> {
    if router == Router::None {
        return add_machine(name, &format!("198.51.100.{number}0"), latency);
    }
    add_house(house, number, router, latency)?;
    add_room(name, house, &format!("10.{number}.0.2"))
}

fn play() -> anyhow::Result<(String, Duration)> {
    let listen = format!("rendezvous --listen {SERVER} --identity /tmp/rendezvous");
    let mut server = Running::start("server", &listen)?;
    server.wait_for("ready")?;
    let mut host = Running::start("host", &format!("serve --rendezvous {SERVER}"))?;
    let line = host.wait_for("--join ")?;
    let code = line.rsplit(' ').next().unwrap_or_default().to_owned();
    let bots = format!("bots native --count 1 --seconds 3 --join {code} --rendezvous {SERVER}");
    let began = Instant::now();
    let mut joiner = Running::start("joiner", &bots)?;
    let line = joiner.wait_for("the path is ")?;
    let took = began.elapsed();
    let path = line.split("the path is ").nth(1).unwrap_or_default();
    let mut path = path.split(',').next().unwrap_or_default().to_owned();
    // The game has to be played over it, and not only found.
    joiner.wait_for("1 connected")?;
    if path == "relayed" && (host.has_said("TCP") || joiner.has_said("TCP")) {
        path.push_str(" over TCP");
    }
    Ok((path, took))
}

/// A program in a namespace.
struct Running {
    child: Child,
    lines: Receiver<String>,
    said: Vec<String>,
}

impl Running {
    fn start(namespace: &str, words: &str) -> anyhow::Result<Self> {
        let mut child = Command::new("ip")
            .args(["netns", "exec", namespace, PROGRAM])
            .args(words.split(' '))
            .env("XDG_STATE_HOME", format!("/tmp/{namespace}"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {PROGRAM} {words}"))?;
        let (sender, lines) = channel();
        let out = child.stdout.take().expect("stdout is piped, just above");
        let err = child.stderr.take().expect("stderr is piped, just above");
        let errors = sender.clone();
        thread::spawn(move || {
            let lines = BufReader::new(out).lines().map_while(Result::ok);
            lines.for_each(|line| drop(sender.send(line)));
        });
        thread::spawn(move || {
            let lines = BufReader::new(err).lines().map_while(Result::ok);
            lines.for_each(|line| drop(errors.send(line)));
        });
        Ok(Self {
            child,
            lines,
            said: Vec::new(),
        })
    }

    /// The next line that contains a text.
    fn wait_for(&mut self, text: &str) -> anyhow::Result<String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                bail!(
                    "no line with {text:?}; there was:\n{}",
                    self.said.join("\n")
                );
            };
            self.said.push(line.clone());
            if line.contains(text) {
                return Ok(line);
            }
        }
    }

    fn has_said(&mut self, text: &str) -> bool {
        self.said.extend(self.lines.try_iter());
        self.said.iter().any(|line| line.contains(text))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Runs a command, cut at spaces; its errors are ours.
fn shell(line: &str) -> anyhow::Result<()> {
    let mut words = line.split(' ');
    let program = words.next().unwrap_or_default();
    let output = Command::new(program)
        .args(words)
        .output()
        .with_context(|| format!("starting `{line}`"))?;
    ensure!(
        output.status.success(),
        "`{line}`: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}
