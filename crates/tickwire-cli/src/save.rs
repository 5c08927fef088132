//! `tickwire save`: what is in a savegame; and the file that `serve --save` keeps.
//!
//! A file is written aside and renamed when it is whole, so whatever happens meanwhile, the last good
//! save is still there under its name.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use tickwire_demo::gateway;
use tickwire_session::Instant;

/// Look at savegames that `serve --save` wrote.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print what a savegame holds: the moment, then every object that is not as the level has it.
    ///
    /// If it is damaged, says where, and exits with 1.
    Show {
        /// The savegame.
        file: PathBuf,

        /// As a JSON object: its lines in a list.
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Command::Show { file, json } = &args.command;
    let save = read(file)?;
    let mut lines = gateway::describe_save(&save).with_context(|| format!("{}", file.display()))?;
    if *json {
        let file = file.display().to_string();
        lines = vec![json!({ "file": file, "bytes": save.len(), "holds": lines }).to_string()];
    }
    let mut out = io::stdout().lock();
    for line in lines {
        // Whoever reads the first lines of it through a pipe wants no complaint about the rest.
        if writeln!(out, "{line}").is_err() {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The bytes of a savegame.
pub(crate) fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    let cannot = || format!("cannot read {}", file.display());
    let length = fs::metadata(file).with_context(cannot)?.len();
    anyhow::ensure!(
        length <= SAVE_MAX,
        "{} has {length} bytes: no savegame has more than {SAVE_MAX}",
        file.display()
    );
    fs::read(file).with_context(cannot)
}

/// Bytes of the largest savegame that is read: one of as many objects as a server holds.
const SAVE_MAX: u64 = 64 * 1024 * 1024;

/// How often a running server saves.
const SAVE_EVERY: Duration = Duration::from_secs(60);

/// A savegame that is kept up to date.
#[derive(Debug)]
pub(crate) struct SaveFile {
    path: PathBuf,
    next: Instant,
    /// A disk may be slow, and the game does not wait for it.
    writing: Option<JoinHandle<io::Result<()>>>,
}

impl SaveFile {
    /// Fails if nothing can be written there: better now than in a minute.
    pub(crate) fn open(path: &Path, now: Instant) -> anyhow::Result<Self> {
        let file = Self {
            path: path.into(),
            next: now + SAVE_EVERY,
            writing: None,
        };
        let aside = aside(path);
        File::create(&aside)
            .and_then(|_| fs::remove_file(aside))
            .with_context(|| file.complaint())?;
        Ok(file)
    }

    /// Saves if it is time to. An error is that of the last saving.
    pub(crate) fn keep(
        &mut self,
        now: Instant,
        save: impl FnOnce() -> Option<Vec<u8>>,
    ) -> anyhow::Result<()> {
        let is_busy = |writing: &JoinHandle<_>| !writing.is_finished();
        if now < self.next || self.writing.as_ref().is_some_and(is_busy) {
            return Ok(());
        }
        self.next = now + SAVE_EVERY;
        let last = self.settle();
        if let Some(save) = save() {
            let path = self.path.clone();
            self.writing = Some(std::thread::spawn(move || replace(&path, &save)));
        }
        last
    }

    /// Saves for the last time.
    pub(crate) fn close(mut self, save: Option<Vec<u8>>) -> anyhow::Result<()> {
        // What the last one died of shows again if it lasts.
        self.settle().ok();
        let Some(save) = save else {
            return Ok(());
        };
        replace(&self.path, &save).with_context(|| self.complaint())
    }

    /// Waits for what is being written.
    fn settle(&mut self) -> anyhow::Result<()> {
        let Some(writing) = self.writing.take() else {
            return Ok(());
        };
        let written = writing.join();
        let written = written.unwrap_or_else(|_| Err(io::Error::other("the writer ended early")));
        written.with_context(|| self.complaint())
    }

    fn complaint(&self) -> String {
        format!("cannot save to {}", self.path.display())
    }
}

/// Puts new bytes under a name, or leaves the old ones there.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let aside = aside(path);
    let mut file = File::create(&aside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&aside, path)
}

/// Where the next save is written until it is whole: beside the last, since only there it can be
/// renamed in one go.
fn aside(path: &Path) -> PathBuf {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".new");
    aside.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_save_is_replaced_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("game.save");
        replace(&path, b"first").unwrap();
        replace(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        // Something is in the way of the new one: the old one stays.
        fs::create_dir(folder.path().join("game.save.new")).unwrap();
        assert!(replace(&path, b"third").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"second");
    }

    #[test]
    fn it_is_saved_every_minute_and_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("game.save");
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut file = SaveFile::open(&path, at(0)).unwrap();
        assert!(!path.exists());
        file.keep(at(59), || panic!("too early")).unwrap();
        file.keep(at(60), || Some(b"minute".to_vec())).unwrap();
        file.settle().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"minute");
        file.keep(at(61), || panic!("too early")).unwrap();
        file.close(Some(b"end".to_vec())).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"end");
    }
}
