//! A client as far as a server can tell: it joins, and acknowledges what it is told to.

use anyhow::{Context as _, bail};
use tickwire_dialects::reone::limits::DATAGRAM_MAX;
use tickwire_dialects::reone::message::{
    Down, DownFrame, PacketWriter, Up, UpElement, UpFrame, UpHeader, VERSION, decode_frame,
    encode_frame,
};
use tickwire_dialects::reone::{
    ClientId, ObjectId, PacketSeq, Reader, Seat, Server, SnapshotSeq, Text,
};
use tickwire_session::{Addr, Events as _, Host, Instant, Path, Room, Session as _, StreamId};

pub(super) struct Guest {
    addr: Addr,
    packets: u32,
    datagram: Vec<u8>,
}

impl Guest {
    /// Joins as the player of a creature, whose number is also the client's. No network is needed for
    /// it; afterwards snapshots go to `addr`.
    pub(super) fn join(
        now: Instant,
        server: &mut Server,
        number: u32,
        addr: Addr,
    ) -> anyhow::Result<Self> {
        let mut guest = Self {
            addr,
            packets: 0,
            datagram: Vec::new(),
        };
        let on = StreamId::Accepted(number);
        let room = Room {
            bytes: u32::MAX,
            largest: 0,
        };
        server.handle_opened(now, on, guest.addr);
        server.handle_room(now, Path::Stream(on), room);
        let mut frames = Vec::new();
        let name = Text::new("guest").context("a good name")?;
        for frame in [
            UpFrame::Hello {
                version: VERSION,
                name,
            },
            UpFrame::Loaded,
        ] {
            encode_frame::<Up>(&frame, &mut frames)
                .ok()
                .context("it is short")?;
        }
        server.handle_stream(now, on, &frames);
        let mut out = Vec::new();
        server.poll_transmit(now, &mut out);
        let DownFrame::Welcome { client, token, .. } =
            decode_frame::<Down>(&mut Reader::new(&out))?
        else {
            bail!("a welcome comes first");
        };
        guest.say(
            now,
            server,
            SnapshotSeq::NONE,
            Some(&UpElement::Ping(token)),
        )?;
        server.admit(now, client, Seat::Player(ObjectId(client.0)));
        guest.say(now, server, SnapshotSeq::NONE, Some(&UpElement::Ready))?;
        while server.poll_transmit(now, &mut out).is_some() {}
        while server.poll_event().is_some() {}
        Ok(guest)
    }

    /// What the server knows it by, if it is the `number`th that joined.
    pub(super) const fn client(number: u32) -> ClientId {
        ClientId(number)
    }

    /// An address for a guest whose datagrams are handed over.
    pub(super) const fn nowhere(number: u32) -> Addr {
        Addr {
            host: Host::Link(number as u64),
            port: 1,
        }
    }

    /// Acknowledges a snapshot.
    pub(super) fn acknowledge(
        &mut self,
        now: Instant,
        server: &mut Server,
        newest: SnapshotSeq,
    ) -> anyhow::Result<()> {
        self.say(now, server, newest, None)
    }

    /// The datagram that does so.
    pub(super) fn acknowledgement(&mut self, newest: SnapshotSeq) -> anyhow::Result<&[u8]> {
        self.write(newest, None)?;
        Ok(&self.datagram)
    }

    fn say(
        &mut self,
        now: Instant,
        server: &mut Server,
        acknowledged: SnapshotSeq,
        element: Option<&UpElement<'_>>,
    ) -> anyhow::Result<()> {
        self.write(acknowledged, element)?;
        server.handle_datagram(now, self.addr, &self.datagram);
        Ok(())
    }

    fn write(
        &mut self,
        acknowledged: SnapshotSeq,
        element: Option<&UpElement<'_>>,
    ) -> anyhow::Result<()> {
        self.packets += 1;
        let header = UpHeader {
            packet: PacketSeq(self.packets),
            acknowledged,
            tick: 0,
        };
        self.datagram.clear();
        let mut writer = PacketWriter::<Up>::new(&mut self.datagram, &header, DATAGRAM_MAX);
        if let Some(element) = element {
            writer.push(element).ok().context("one element fits")?;
        }
        writer.finish();
        Ok(())
    }
}
