//! Resources that a client wants: the server's list first, then what was asked for, as the list says it is.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::bulk::{Fetched, Fetching, Listed, Manifest, Overall, Piece, Request};

use crate::server::MANIFEST;

/// Bytes of the server's list: twice what the most resources with usual names take.
const MANIFEST_MAX: usize = 1 << 20;

/// What is wanted, and how far it has come.
#[derive(Debug, Default)]
pub(super) struct Download {
    wanted: Vec<String>,
    stage: Stage,
    done: VecDeque<Outcome>,
}

/// What became of a resource.
#[derive(Debug)]
pub(super) enum Outcome {
    Fetched(Fetched),
    /// There is none of this name, or it is not what the list says.
    Failed(String),
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Idle,
    /// The list is on its way.
    List {
        is_asked: bool,
        bytes: Vec<u8>,
    },
    Resources(Fetching),
}

impl Download {
    /// A resource is wanted.
    pub(super) fn want(&mut self, name: &str) {
        self.wanted.push(name.into());
        if matches!(self.stage, Stage::Idle) {
            self.stage = Stage::List {
                is_asked: false,
                bytes: Vec::new(),
            };
        }
    }

    /// The next thing to ask the server for.
    pub(super) fn poll_request(&mut self) -> Option<Request> {
        match &mut self.stage {
            Stage::Idle => None,
            Stage::List { is_asked, bytes } => {
                let offset = bytes.len() as u64;
                let name = MANIFEST.into();
                let is_new = !core::mem::replace(is_asked, true);
                is_new.then_some(Request { name, offset })
            }
            Stage::Resources(fetching) => fetching.poll_request(),
        }
    }

    /// A piece came.
    pub(super) fn handle_piece(&mut self, name: &str, piece: Piece<'_>) {
        match &mut self.stage {
            Stage::List { bytes, .. } if name == MANIFEST => {
                let follows = piece.offset == bytes.len() as u64;
                if !follows || bytes.len() + piece.bytes.len() > MANIFEST_MAX {
                    return self.fail_all();
                }
                bytes.extend_from_slice(piece.bytes);
                if bytes.len() as u64 == piece.of {
                    let list = core::mem::take(bytes);
                    self.begin(&list);
                }
            }
            // The end of the list, behind its last piece.
            _ if name == MANIFEST => {}
            Stage::Resources(fetching) => {
                if fetching.handle_piece(name, piece).is_err() {
                    return self.fail_all();
                }
                self.settle();
            }
            Stage::List { .. } | Stage::Idle => {}
        }
    }

    /// The server does not have what was asked for.
    pub(super) fn handle_no_such(&mut self) {
        match &mut self.stage {
            Stage::Resources(fetching) => {
                if let Some(name) = fetching.handle_refusal() {
                    self.wanted.retain(|it| *it != name);
                    self.done.push_back(Outcome::Failed(name));
                }
                self.settle();
            }
            Stage::List { .. } => self.fail_all(),
            Stage::Idle => {}
        }
    }

    /// The connection broke: on the next one it goes on from where it is.
    pub(super) fn disconnect(&mut self) {
        match &mut self.stage {
            Stage::Idle => {}
            Stage::List { is_asked, .. } => *is_asked = false,
            Stage::Resources(fetching) => fetching.disconnect(),
        }
    }

    /// How far what the list told of has come.
    pub(super) fn overall(&self) -> Option<Overall> {
        match &self.stage {
            Stage::Resources(fetching) => Some(fetching.overall()),
            Stage::Idle | Stage::List { .. } => None,
        }
    }

    /// The next resource that came to an end.
    pub(super) fn poll_done(&mut self) -> Option<Outcome> {
        self.done.pop_front()
    }

    /// The list is here.
    fn begin(&mut self, list: &[u8]) {
        let Ok(manifest) = Manifest::parse(list) else {
            return self.fail_all();
        };
        let (listed, missing) = core::mem::take(&mut self.wanted)
            .into_iter()
            .partition(|name| manifest.listed().iter().any(|it| it.name == *name));
        self.wanted = listed;
        let missing: Vec<String> = missing;
        self.done.extend(missing.into_iter().map(Outcome::Failed));
        let is_not_wanted = |it: &Listed| !self.wanted.contains(&it.name);
        match Fetching::new(&manifest, is_not_wanted) {
            Ok(fetching) => {
                self.stage = Stage::Resources(fetching);
                self.settle();
            }
            Err(_) => self.fail_all(),
        }
    }

    /// Hands out what is whole. What was wanted since is looked for in a new list.
    fn settle(&mut self) {
        let Stage::Resources(fetching) = &mut self.stage else {
            return;
        };
        while let Some(fetched) = fetching.poll_fetched() {
            self.wanted.retain(|it| *it != fetched.name);
            self.done.push_back(Outcome::Fetched(fetched));
        }
        if fetching.is_complete() {
            self.stage = Stage::Idle;
            let left = core::mem::take(&mut self.wanted);
            left.iter().for_each(|name| self.want(name));
        }
    }

    fn fail_all(&mut self) {
        self.stage = Stage::Idle;
        let failed = core::mem::take(&mut self.wanted);
        self.done.extend(failed.into_iter().map(Outcome::Failed));
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use tickwire_session::bulk::Shelf;

    use super::*;

    fn shelf() -> Shelf {
        let mut shelf = Shelf::new(MANIFEST);
        shelf.insert("map", b"here be dragons"[..].into()).unwrap();
        shelf.insert("song", b"la la la"[..].into()).unwrap();
        shelf
    }

    /// Answers requests, in pieces of three bytes, and breaks the connection every so many.
    fn serve(download: &mut Download, shelf: &Shelf, breaks_every: usize) {
        let mut pieces = 0;
        for _ in 0..100 {
            let Some(request) = download.poll_request() else {
                break;
            };
            let Ok(mut sending) = shelf.send(&request.name, request.offset) else {
                download.handle_no_such();
                continue;
            };
            while let Some(piece) = sending.poll_piece(3) {
                pieces += 1;
                if pieces % breaks_every == 0 {
                    download.disconnect();
                    break;
                }
                download.handle_piece(&request.name, piece);
            }
        }
    }

    fn outcomes(download: &mut Download) -> Vec<(String, Option<usize>)> {
        let mut outcomes = vec![];
        while let Some(outcome) = download.poll_done() {
            outcomes.push(match outcome {
                Outcome::Fetched(fetched) => (fetched.name, Some(fetched.bytes.len())),
                Outcome::Failed(name) => (name, None),
            });
        }
        outcomes
    }

    #[test]
    fn what_is_wanted_comes_and_what_does_not_exist_fails() {
        let mut download = Download::default();
        download.want("map");
        download.want("mapp");
        serve(&mut download, &shelf(), usize::MAX);
        let expected = [("mapp".into(), None), ("map".into(), Some(15))];
        assert_eq!(outcomes(&mut download), expected);
        assert!(matches!(download.stage, Stage::Idle));
    }

    #[test]
    fn a_broken_connection_costs_one_piece() {
        let mut download = Download::default();
        download.want("map");
        serve(&mut download, &shelf(), 7);
        assert_eq!(outcomes(&mut download), [("map".into(), Some(15))]);
    }

    #[test]
    fn what_is_wanted_meanwhile_comes_afterwards() {
        let mut download = Download::default();
        download.want("map");
        let request = download.poll_request().unwrap();
        download.want("song");
        let shelf = shelf();
        let mut sending = shelf.send(&request.name, 0).unwrap();
        while let Some(piece) = sending.poll_piece(1_000) {
            download.handle_piece(MANIFEST, piece);
        }
        serve(&mut download, &shelf, usize::MAX);
        assert_eq!(outcomes(&mut download).len(), 2);
    }

    #[test]
    fn another_content_than_listed_fails() {
        let mut download = Download::default();
        download.want("map");
        download.poll_request().unwrap();
        let list = shelf().get(MANIFEST).unwrap().clone();
        let piece = |bytes| Piece {
            of: 15,
            offset: 0,
            bytes,
        };
        let of = list.len() as u64;
        let whole = Piece { of, ..piece(&list) };
        download.handle_piece(MANIFEST, whole);
        download.poll_request().unwrap();
        download.handle_piece("map", piece(b"here be no more"));
        assert_eq!(outcomes(&mut download), [("map".into(), None)]);
    }
}
