//! Running the command as a person would: as a process, read line by line.
//!
//! Whatever is waited for has a deadline, and whatever was started ends with its owner.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longest wait for anything: only a broken command takes so long, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command that is running.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
}

/// What a command that ended said.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `tickwire` to its end.
pub(crate) fn run(arguments: &[&str]) -> Done {
    run_in(Path::new("."), arguments)
}

/// The same, typed as a line.
pub(crate) fn run_line(line: &str) -> Done {
    run(&line.split(' ').collect::<Vec<_>>())
}

/// The same in a folder, where it also keeps what it remembers.
pub(crate) fn run_in(folder: &Path, arguments: &[&str]) -> Done {
    let mut command = tickwire(arguments);
    command.env("XDG_STATE_HOME", folder);
    let output = command.current_dir(folder).output();
    let output = output.expect("the command starts");
    Done {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into(),
        stderr: String::from_utf8_lossy(&output.stderr).into(),
    }
}

/// Starts `tickwire` and leaves it running.
pub(crate) fn start(arguments: &[&str]) -> Running {
    start_in(Path::new("."), arguments)
}

/// The same, typed as a line.
pub(crate) fn start_line(line: &str) -> Running {
    start(&line.split(' ').collect::<Vec<_>>())
}

/// The same, and what is typed into it.
pub(crate) fn start_typing(arguments: &[&str]) -> (Running, ChildStdin) {
    let mut command = tickwire(arguments);
    command.stdin(Stdio::piped());
    let mut running = spawn(&mut command);
    let keyboard = running.child.stdin.take().expect("stdin is piped");
    (running, keyboard)
}

/// The same in a folder, where it also keeps what it remembers.
pub(crate) fn start_in(folder: &Path, arguments: &[&str]) -> Running {
    start_with(folder, arguments, Stdio::inherit())
}

/// The same, with what it says on standard error in a file of the folder.
pub(crate) fn start_logged(folder: &Path, arguments: &[&str]) -> Running {
    let errors = File::create(folder.join("stderr")).expect("a file");
    start_with(folder, arguments, errors.into())
}

fn start_with(folder: &Path, arguments: &[&str], errors: Stdio) -> Running {
    let mut command = tickwire(arguments);
    command.current_dir(folder).env("XDG_STATE_HOME", folder);
    spawn(command.stderr(errors))
}

fn spawn(command: &mut Command) -> Running {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let stdout = child.stdout.take().expect("stdout is piped");
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    Running { child, lines }
}

/// Starts the lwar program that is not ours, if there is a Python to run it.
pub(crate) fn start_elsewhere(arguments: &[&str]) -> Option<Running> {
    let found = Command::new("python3").arg("--version").output();
    if let Err(why) = found {
        // Whoever only builds the crate need not have it; whoever decides what is merged must.
        let hint = "python3 is needed (3.8 or later): `apt install python3`, `brew install python` or python.org";
        assert!(std::env::var_os("CI").is_none(), "{hint}: {why}");
        eprintln!("not run: {hint}: {why}");
        return None;
    }
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/elsewhere/lwar.py");
    let mut command = Command::new("python3");
    command.args(["-B", program]).args(arguments);
    Some(spawn(command.stdin(Stdio::null())))
}

/// Starts a server of the protocol on a free port; returns it when it is ready.
pub(crate) fn serve(protocol: &str, options: &[&str]) -> (Running, SocketAddr) {
    let mut arguments = vec!["serve", protocol, "--listen", "127.0.0.1:0"];
    arguments.extend(options);
    let server = start(&arguments);
    let ready = server.line_with("ready");
    let addr = ready.split([' ', '"']).find_map(|word| word.parse().ok());
    (
        server,
        addr.unwrap_or_else(|| panic!("no address in {ready:?}")),
    )
}

/// `tickwire … | head -n 2`: what was read, and how it ended, which it does within a second.
pub(crate) fn read_two_lines(arguments: &[&str]) -> Done {
    let mut command = tickwire(arguments);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    let read = lines.by_ref().take(2).map_while(Result::ok);
    let stdout = read.map(|line| line + "\n").collect();
    drop(lines);
    // A second, and what a busy machine adds.
    let deadline = Instant::now() + Duration::from_secs(3);
    while Instant::now() < deadline && child.try_wait().expect("it is a child").is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().ok();
    Done {
        code: child.wait().expect("it is a child").code(),
        stdout,
        stderr: String::new(),
    }
}

fn tickwire(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tickwire"));
    command.args(arguments).stdin(Stdio::null());
    command
}

impl Running {
    /// The next line that contains `text`.
    #[track_caller]
    pub(crate) fn line_with(&self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if line.contains(text) => return line,
                Ok(_) => {}
                Err(error) => panic!("no line with {text:?}: {error}"),
            }
        }
    }

    /// Asks the process to end, as a service manager does.
    pub(crate) fn terminate(&self) {
        self.signal("TERM");
    }

    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        let status = Command::new("sh")
            .args(["-c", &kill])
            .status()
            .expect("sh is there");
        assert!(status.success());
    }

    /// Waits for the end; what it said last, and its exit code.
    pub(crate) fn wait(mut self) -> Done {
        let status = self.child.wait().expect("the child can be waited for");
        let stdout = self.lines.iter().map(|line| line + "\n").collect();
        Done {
            code: status.code(),
            stdout,
            stderr: String::new(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
