//! Scripted conversations: packets as a server would send them, by hand.

use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::block::{BlockBuf, SLOTS};
use crate::coder::Ages;
use crate::number::{BlockNumber, PlaceNumber};
use crate::packet::{Form, Last, Notices, PacketWriter, RecordHead, Target};
use crate::record::Changed;
use crate::{Archetypes, Replicate};

#[derive(Clone, Copy, Debug, PartialEq, Replicate)]
struct Ship {
    #[replicate(step = 0.25)]
    x: f32,
}

#[derive(Archetypes, Clone, Copy, Debug)]
enum Thing {
    Ship(Ship),
}

/// A block's contents: slot, id, x.
type Ships = [(usize, u32, f32)];

const A: BlockName = BlockName {
    place: PlaceNumber(1),
    block: BlockNumber(0),
};
const B: BlockName = BlockName {
    place: PlaceNumber(2),
    block: BlockNumber(0),
};

/// Everything applied up to here is true at this send.
const COMPLETE: Option<Last> = Some(Last {
    complete: 1,
    settled: 1,
});

/// A record of one block.
#[derive(Clone, Copy)]
struct Record<'a> {
    name: BlockName,
    /// The send of the baseline and what the block held then.
    baseline: Option<(u64, &'a Ships)>,
    now: &'a Ships,
}

const fn new<'a>(name: BlockName, now: &'a Ships) -> Record<'a> {
    Record {
        name,
        baseline: None,
        now,
    }
}

fn block(ships: &Ships) -> BlockBuf {
    let mut block = BlockBuf::default();
    block.assign(Ship::FIELDS, None);
    for &(slot, id, x) in ships {
        block.occupied |= 1 << slot;
        block.ids[slot] = id;
        #[expect(clippy::cast_possible_truncation, reason = "small")]
        let lane = (x * 4.0) as i32;
        block.lanes[slot] = lane.cast_unsigned();
    }
    assert_eq!(block.lanes.len(), SLOTS);
    block
}

/// A replica, and the numbers of the packets to it.
struct Script {
    replica: Replica<Thing>,
    number: u64,
}

impl Script {
    fn new() -> Self {
        // One tick a send, ten ticks a second: moments are easy to read.
        let config = ReplicaConfig {
            ticks_per_send: 1,
            ticks_per_second: 10,
            extrapolation_ticks: 2,
            near: SendIndex::NONE,
        };
        Self {
            replica: Replica::new(config),
            number: 0,
        }
    }

    fn packet(
        &mut self,
        send: u64,
        notices: Notices<'_>,
        records: &[Record<'_>],
        last: Option<Last>,
    ) -> Vec<u8> {
        self.number += 1;
        let header = Header {
            number: PacketNumber(self.number),
            send: SendIndex(send),
        };
        let mut out = vec![];
        let mut packet = PacketWriter::new(header, &notices, 1_200, &mut out).unwrap();
        for record in records {
            let age = |at: u64| u8::try_from(send - at).unwrap();
            let head = RecordHead {
                place: record.name.place,
                target: Target::Block(record.name.block),
                form: Form::Packed,
                ages: Ages {
                    baseline: record.baseline.map_or(0, |(at, _)| age(at)),
                    previous: 0,
                },
            };
            let (now, baseline) = (block(record.now), record.baseline.map(|(_, b)| block(b)));
            let changed = Changed {
                block: record.name.block,
                archetype: 0,
                fields: Ship::FIELDS,
                baseline: baseline.as_ref().map(BlockBuf::view),
                previous: None,
                now: now.view(),
            };
            let mut body = vec![];
            record::encode(&head, [changed], &mut self.replica.coding, &mut body);
            packet.record(&head, &body).unwrap();
        }
        packet.finish(last);
        out
    }

    /// Sends records.
    fn records(&mut self, send: u64, records: &[Record<'_>], last: Option<Last>) -> Outcome {
        let packet = self.packet(send, Notices::default(), records, last);
        self.apply(&packet)
    }

    /// Sends the leave of a place.
    fn leave(&mut self, send: u64, place: PlaceNumber) -> Outcome {
        let notices = Notices {
            leaves: &[place],
            ..Notices::default()
        };
        let packet = self.packet(send, notices, &[], None);
        self.apply(&packet)
    }

    fn apply(&mut self, packet: &[u8]) -> Outcome {
        self.replica.apply(packet).map(|_| ())
    }

    /// Plays to a send and a part of the next.
    fn play(&mut self, send: f32) -> Vec<Event> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small"
        )]
        let moment = Moment((send * 256.0) as u64);
        self.replica.play(moment);
        core::iter::from_fn(|| self.replica.poll_event()).collect()
    }

    fn view(&self) -> Vec<(u32, f32)> {
        let ships = self.replica.view::<Ship>();
        ships.map(|(id, ship)| (id.0, ship.x)).collect()
    }

    #[track_caller]
    fn check_held(&self, name: BlockName, send: u64, expected: Option<&Ships>) {
        let got = self.replica.block_at(name, SendIndex(send));
        let got = got.map(|(_, view)| (view.ids.to_vec(), view.lanes.to_vec()));
        let expected = expected.map(block).map(|block| (block.ids, block.lanes));
        assert_eq!(got, expected, "{name:?} at {send}");
    }
}

type Outcome = Result<(), ApplyError>;

const fn spawned(id: u32) -> Event {
    let id = EntityId(id);
    Event::Spawned { archetype: 0, id }
}

const fn despawned(id: u32) -> Event {
    let id = EntityId(id);
    Event::Despawned { archetype: 0, id }
}

#[test]
fn a_block_at_a_send_is_its_newest_version_not_newer() {
    let mut script = Script::new();
    let (first, second) = ([(0, 7, 1.0)], [(0, 7, 2.0), (9, 8, 3.0)]);
    script.records(3, &[new(A, &first)], None).unwrap();
    let changed = Record {
        name: A,
        baseline: Some((4, &first)),
        now: &second,
    };
    script.records(6, &[changed], None).unwrap();
    script.check_held(A, 2, None);
    script.check_held(A, 5, Some(&first));
    script.check_held(A, 6, Some(&second));
    script.check_held(A, 60, Some(&second));
    assert_eq!(script.replica.newest(), SendIndex(6));
}

#[test]
fn a_packet_is_applied_once() {
    let mut script = Script::new();
    let packet = script.packet(3, Notices::default(), &[new(A, &[])], None);
    let applied = |is_repeated| {
        Ok(Applied {
            packet: PacketNumber(1),
            send: SendIndex(3),
            is_repeated,
        })
    };
    assert_eq!(script.replica.apply(&packet), applied(false));
    let held = script.replica.version_bytes();
    assert_eq!(script.replica.apply(&packet), applied(true));
    assert_eq!(script.replica.version_bytes(), held);
}

#[test]
fn a_packet_that_fails_changes_nothing() {
    let mut script = Script::new();
    let ships = [(0, 7, 1.0)];
    script.records(3, &[new(A, &ships)], None).unwrap();
    let notices = Notices {
        leaves: &[A.place],
        ..Notices::default()
    };
    let mut packet = script.packet(4, notices, &[new(B, &ships)], COMPLETE);
    packet.push(0);
    let got = script.apply(&packet);
    assert!(matches!(got, Err(ApplyError::Malformed(_))), "{got:?}");
    script.check_held(A, 4, Some(&ships));
    script.check_held(B, 4, None);
    assert_eq!(script.replica.newest(), SendIndex(3));
    assert_eq!(script.replica.newest_complete(), None);
}

#[test]
fn an_error_points_into_the_packet() {
    let mut script = Script::new();
    let mut packet = script.packet(4, Notices::default(), &[new(A, &[])], None);
    let at = packet.len() - 1;
    *packet.last_mut().unwrap() |= 0x80;
    let Err(ApplyError::Malformed(error)) = script.apply(&packet) else {
        panic!("padding is 0");
    };
    assert_eq!(error.at_bit() as usize / 8, at);
}

#[test]
fn a_baseline_that_is_not_held_makes_it_want_everything_anew_now_and_then() {
    let mut script = Script::new();
    let ships = [(0, 7, 1.0)];
    let lost = Record {
        name: A,
        baseline: Some((3, &ships)),
        now: &ships,
    };
    let lacking = Err(ApplyError::Lacking {
        name: A,
        send: SendIndex(3),
    });
    assert_eq!(script.records(5, &[lost], None), lacking);
    assert!(script.replica.poll_forget());
    assert_eq!(script.records(6, &[lost], None), lacking);
    assert!(!script.replica.poll_forget());
    assert_eq!(
        script.records(5 + limits::FORGET_INTERVAL, &[lost], None),
        lacking
    );
    assert!(script.replica.poll_forget());
    // What an older packet lacks says nothing.
    script.records(60, &[], None).unwrap();
    assert_eq!(script.records(59, &[lost], None), lacking);
    assert!(!script.replica.poll_forget());
}

#[test]
fn a_late_record_is_inserted_into_history() {
    let mut script = Script::new();
    let (early, late) = ([(0, 7, 1.0)], [(0, 7, 2.0)]);
    let packet = script.packet(5, Notices::default(), &[new(A, &early)], None);
    script.records(8, &[new(A, &late)], None).unwrap();
    script.apply(&packet).unwrap();
    script.check_held(A, 7, Some(&early));
    script.check_held(A, 8, Some(&late));
}

#[test]
fn what_is_64_sends_old_is_not_applied() {
    let mut script = Script::new();
    let packets = [36, 37].map(|send| script.packet(send, Notices::default(), &[], None));
    script.records(100, &[], None).unwrap();
    let outcomes = packets.map(|packet| script.apply(&packet));
    assert_eq!(outcomes, [Err(ApplyError::TooOld), Ok(())]);
}

#[test]
fn what_was_left_is_not_entered_by_an_older_record() {
    let mut script = Script::new();
    let ships = [(0, 7, 1.0)];
    let late = script.packet(6, Notices::default(), &[new(A, &ships)], None);
    let same = script.packet(7, Notices::default(), &[new(A, &ships)], None);
    script.records(5, &[new(A, &ships)], None).unwrap();
    script.leave(7, A.place).unwrap();
    script.check_held(A, 6, Some(&ships));
    script.check_held(A, 7, None);
    assert_eq!(script.apply(&late), Err(ApplyError::Overtaken));
    assert_eq!(script.apply(&same), Err(ApplyError::Overtaken));
    // The leave is repeated until the server hears of it, and then the place may come again.
    script.leave(8, A.place).unwrap();
    script.records(9, &[new(A, &ships)], None).unwrap();
    script.check_held(A, 8, None);
    script.check_held(A, 9, Some(&ships));
}

#[test]
fn a_leave_that_was_repeated_may_arrive_late() {
    let mut script = Script::new();
    let ships = [(0, 7, 1.0)];
    script.records(5, &[new(A, &ships)], None).unwrap();
    let notices = Notices {
        leaves: &[A.place],
        ..Notices::default()
    };
    let late = script.packet(7, notices, &[], None);
    script.leave(9, A.place).unwrap();
    script.check_held(A, 8, Some(&ships));
    script.apply(&late).unwrap();
    script.check_held(A, 6, Some(&ships));
    script.check_held(A, 7, None);
}

#[test]
fn a_leave_is_older_than_what_entered_since() {
    let mut script = Script::new();
    let notices = [
        Notices {
            leaves: &[A.place],
            ..Notices::default()
        },
        Notices {
            gones: &[(A.place, A.block)],
            ..Notices::default()
        },
        Notices {
            clear: true,
            ..Notices::default()
        },
    ];
    let late = notices.map(|notices| script.packet(6, notices, &[], None));
    script.records(7, &[new(A, &[])], None).unwrap();
    for packet in late {
        assert_eq!(script.apply(&packet), Err(ApplyError::Overtaken));
    }
    script.check_held(A, 7, Some(&[]));
}

#[test]
fn clear_and_gone_end_what_they_name() {
    let mut script = Script::new();
    script
        .records(5, &[new(A, &[]), new(B, &[])], None)
        .unwrap();
    let gone = Notices {
        gones: &[(A.place, A.block)],
        ..Notices::default()
    };
    let packet = script.packet(6, gone, &[], None);
    script.apply(&packet).unwrap();
    script.check_held(A, 6, None);
    script.check_held(B, 6, Some(&[]));
    let clear = Notices {
        clear: true,
        ..Notices::default()
    };
    let packet = script.packet(7, clear, &[], None);
    script.apply(&packet).unwrap();
    script.check_held(B, 7, None);
}

#[test]
fn a_packet_does_not_contradict_itself() {
    let mut script = Script::new();
    let notices = Notices {
        leaves: &[A.place],
        ..Notices::default()
    };
    let packet = script.packet(5, notices, &[new(A, &[])], None);
    assert_eq!(script.apply(&packet), Err(ApplyError::Overtaken));
}

#[test]
fn versions_of_the_last_64_sends_and_one_older_are_held() {
    let mut script = Script::new();
    for send in 1..=200_u8 {
        let ships = [(0, 7, f32::from(send))];
        script
            .records(send.into(), &[new(A, &ships)], None)
            .unwrap();
    }
    script.check_held(A, 136, Some(&[(0, 7, 136.0)]));
    script.check_held(A, 135, None);
    let one = script.replica.version_bytes() / 65;
    assert_eq!(one, 2 * 64 * 4);
    // A block that rests stays, however old its version is.
    for send in 201..400 {
        script.records(send, &[], None).unwrap();
    }
    assert_eq!(script.replica.version_bytes(), one);
    script.check_held(A, 399, Some(&[(0, 7, 200.0)]));
}

#[test]
fn nothing_remains_of_what_was_left_long_ago() {
    let mut script = Script::new();
    script.records(5, &[new(A, &[(0, 7, 1.0)])], None).unwrap();
    script.play(5.0);
    script.leave(6, A.place).unwrap();
    script.play(6.0);
    for send in 7..80 {
        script.records(send, &[], None).unwrap();
    }
    assert_eq!(script.replica.version_bytes(), 0);
    assert_eq!(script.replica.blocks().count(), 0);
}

#[test]
fn a_sleeping_owner_does_not_make_it_hold_more() {
    let mut script = Script::new();
    script.records(1, &[new(A, &[(0, 7, 1.0)])], None).unwrap();
    script.play(1.0);
    for send in 2..1_000_u16 {
        let place = PlaceNumber(u32::from(send));
        let name = BlockName { place, ..A };
        let ships = [(0, 7, f32::from(send))];
        script
            .records(send.into(), &[new(name, &ships)], None)
            .unwrap();
        let left = PlaceNumber(u32::from(send) - 1);
        script.leave(send.into(), left).unwrap();
        assert!(
            script.replica.blocks().count()
                <= 2 + usize::try_from(limits::PLAYBACK_LAG_MAX).unwrap()
        );
    }
}

#[test]
fn entities_appear_and_go_at_playback_time() {
    let mut script = Script::new();
    script
        .records(5, &[new(A, &[(0, 7, 1.0)])], COMPLETE)
        .unwrap();
    script.records(6, &[new(A, &[])], COMPLETE).unwrap();
    assert_eq!(script.play(4.9), []);
    assert_eq!(script.view(), []);
    assert_eq!(script.play(5.0), [spawned(7)]);
    assert_eq!(script.view(), [(7, 1.0)]);
    assert_eq!(script.play(5.9), []);
    assert_eq!(script.view(), [(7, 1.0)]);
    assert_eq!(script.play(6.0), [despawned(7)]);
    assert_eq!(script.view(), []);
}

#[test]
fn movement_is_shown_between_versions_and_begins_where_the_block_was_last_known_to_rest() {
    let mut script = Script::new();
    script.records(2, &[new(A, &[(0, 7, 0.0)])], None).unwrap();
    script.records(6, &[new(A, &[(0, 7, 8.0)])], None).unwrap();
    script.play(4.0);
    assert_eq!(script.view(), [(7, 4.0)]);
    // Now it is known that nothing happened until send 4.
    script.records(4, &[], COMPLETE).unwrap();
    assert_eq!(script.view(), [(7, 0.0)]);
    script.play(5.0);
    assert_eq!(script.view(), [(7, 4.0)]);
}

#[test]
fn beyond_the_newest_version_movement_goes_on_for_a_while() {
    let mut script = Script::new();
    script.records(2, &[new(A, &[(0, 7, 0.0)])], None).unwrap();
    script.records(3, &[new(A, &[(0, 7, 8.0)])], None).unwrap();
    script.play(4.0);
    assert_eq!(script.view(), [(7, 16.0)]);
    script.play(9.0);
    assert_eq!(script.view(), [(7, 24.0)]);
    // It is known to have stopped.
    script.records(4, &[], COMPLETE).unwrap();
    assert_eq!(script.view(), [(7, 8.0)]);
}

#[test]
fn who_crosses_into_another_block_moves_on_under_its_id() {
    let mut script = Script::new();
    script.records(1, &[new(A, &[(0, 7, 0.0)])], None).unwrap();
    script
        .records(2, &[new(A, &[]), new(B, &[(3, 7, 8.0)])], COMPLETE)
        .unwrap();
    assert_eq!(script.play(1.5), [spawned(7)]);
    assert_eq!(script.view(), [(7, 4.0)]);
    assert_eq!(script.play(2.0), []);
    assert_eq!(script.view(), [(7, 8.0)]);
}

#[test]
fn who_left_one_block_is_kept_until_the_other_arrives() {
    let mut script = Script::new();
    script.records(1, &[new(A, &[(0, 7, 0.0)])], None).unwrap();
    assert_eq!(script.play(1.0), [spawned(7)]);
    script.records(2, &[new(A, &[])], None).unwrap();
    assert_eq!(script.play(3.0), []);
    assert_eq!(script.view(), [(7, 0.0)]);
    script
        .records(4, &[new(B, &[(3, 7, 12.0)])], COMPLETE)
        .unwrap();
    assert_eq!(script.play(3.5), []);
    assert_eq!(script.view(), [(7, 10.0)], "towards where it will be");
    assert_eq!(script.play(4.0), []);
    assert_eq!(script.view(), [(7, 12.0)]);
}

#[test]
fn who_is_in_two_blocks_is_where_it_was_seen_last() {
    let mut script = Script::new();
    let [in_a, in_b] = [[(0, 7, 1.0)], [(3, 7, 2.0)]];
    script.records(1, &[new(A, &in_a)], None).unwrap();
    script.records(2, &[new(B, &in_b)], None).unwrap();
    assert_eq!(script.play(2.0), [spawned(7)]);
    assert_eq!(script.view(), [(7, 2.0)]);
    // It leaves B, perhaps for A, of which only an older version is there.
    script.records(4, &[new(B, &[])], None).unwrap();
    assert_eq!(script.play(4.0), []);
    assert_eq!(script.view(), [(7, 2.0)]);
    script.records(5, &[new(A, &[(0, 7, 5.0)])], None).unwrap();
    assert_eq!(script.play(5.0), []);
    assert_eq!(script.view(), [(7, 5.0)]);
}

#[test]
fn a_late_sighting_counts() {
    let mut script = Script::new();
    let late = script.packet(3, Notices::default(), &[new(B, &[(3, 7, 2.0)])], None);
    script.records(1, &[new(A, &[(0, 7, 1.0)])], None).unwrap();
    script.records(2, &[new(A, &[])], None).unwrap();
    script.records(4, &[new(B, &[])], None).unwrap();
    // It was in A only once playback is beyond B.
    script.play(1.0);
    assert_eq!(script.play(4.0), []);
    assert_eq!(script.view(), [(7, 1.0)]);
    script.apply(&late).unwrap();
    assert_eq!(script.play(4.5), []);
    assert_eq!(script.view(), [(7, 2.0)]);
    // B removed it at 4: an earlier complete send does not end it.
    script.records(3, &[], COMPLETE).unwrap();
    assert_eq!(script.play(4.6), []);
    script.records(5, &[], COMPLETE).unwrap();
    assert_eq!(script.play(5.0), [despawned(7)]);
}

#[test]
fn a_settled_send_is_enough_and_so_is_a_second() {
    for (last, gone_at) in [
        (
            Some(Last {
                complete: 0,
                settled: 1,
            }),
            3.0,
        ),
        (None, 12.0),
    ] {
        let mut script = Script::new();
        script.records(1, &[new(A, &[(0, 7, 0.0)])], None).unwrap();
        script.records(2, &[new(A, &[])], None).unwrap();
        script.records(3, &[], last).unwrap();
        script.play(1.0);
        assert_eq!(script.play(2.0), []);
        assert_eq!(script.play(gone_at - 0.1), []);
        assert_eq!(script.view(), [(7, 0.0)]);
        assert_eq!(script.play(gone_at), [despawned(7)]);
    }
}

#[test]
fn who_was_given_up_too_early_appears_again() {
    let mut script = Script::new();
    script.records(1, &[new(A, &[(0, 7, 1.0)])], None).unwrap();
    script.records(2, &[new(B, &[(0, 7, 2.0)])], None).unwrap();
    script.play(2.0);
    script.records(3, &[new(B, &[])], None).unwrap();
    assert_eq!(script.play(3.0), []);
    assert_eq!(script.play(13.0), [despawned(7)]);
    assert_eq!(script.view(), []);
    // It had gone back to the very slot that it came from.
    script.records(14, &[new(A, &[(0, 7, 3.0)])], None).unwrap();
    assert_eq!(script.play(14.0), [spawned(7)]);
    assert_eq!(script.view(), [(7, 3.0)]);
}

#[test]
fn a_place_that_is_left_is_shown_until_playback_reaches_the_leave() {
    let mut script = Script::new();
    script.records(5, &[new(A, &[(0, 7, 1.0)])], None).unwrap();
    script.leave(7, A.place).unwrap();
    script.records(8, &[], COMPLETE).unwrap();
    script.play(6.9);
    assert_eq!(script.view(), [(7, 1.0)]);
    assert_eq!(script.play(8.0), [despawned(7)]);
}

#[test]
fn the_latest_values_are_ahead_of_what_is_shown() {
    let mut script = Script::new();
    script.records(5, &[new(A, &[(0, 7, 1.0)])], None).unwrap();
    script.records(6, &[new(B, &[(0, 7, 2.0)])], None).unwrap();
    let latest = script.replica.latest::<Ship>(EntityId(7));
    assert_eq!(latest, Some((SendIndex(6), Ship { x: 2.0 })));
    assert_eq!(script.replica.get::<Ship>(EntityId(7)), None);
    assert_eq!(script.replica.latest::<Ship>(EntityId(8)), None);
}

#[test]
fn time_does_not_run_backwards() {
    let mut script = Script::new();
    script.records(5, &[new(A, &[(0, 7, 1.0)])], None).unwrap();
    script.play(5.0);
    assert_eq!(script.play(3.0), []);
    assert_eq!(script.replica.now(), Moment(5 * 256));
    assert_eq!(script.view(), [(7, 1.0)]);
}
