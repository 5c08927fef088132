//! What an operator may ask of a driver.

tickwire_session::counters! {
    /// What a driver carried and what it did not, since it began, all nodes together.
    pub struct Counters {
        /// Datagrams handed in from sockets.
        datagrams_received,
        /// Datagrams given to sockets.
        datagrams_sent,
        /// Datagrams carried by memory links.
        datagrams_linked,
        /// Datagrams dropped, on arrival or on a link, because they were longer than
        /// [`DATAGRAM_LARGEST`](crate::limits::DATAGRAM_LARGEST).
        datagrams_oversize,
        /// Datagrams dropped because the socket's buffer, or the queue of a link, was full.
        datagrams_overrun,
        /// Datagrams dropped because the system would not send them: no route, too long, forbidden.
        datagrams_unsendable,
        /// Errors reported where a datagram was expected: echoes of earlier ones that nobody took.
        receive_errors,
        /// Connections accepted.
        connections_accepted,
        /// Connections closed at once because their server had its share already (see
        /// [`CONNECTIONS`](crate::limits::CONNECTIONS)).
        connections_refused,
        /// Times that the machine had no means to accept a connection.
        accept_errors,
        /// QUIC peers that were let in.
        links_accepted,
        /// QUIC peers that did the handshake and were turned away: a ticket that is no good, mostly.
        links_refused,
        /// Bytes handed in from TCP and QUIC streams.
        stream_bytes_received,
        /// Bytes that TCP and QUIC streams took.
        stream_bytes_sent,
        /// Streams cut because their session sent more than it had been told there was room for.
        streams_overdrawn,
        /// Orders for streams that were not there: most often, ones that had just ended.
        orders_stray,
    }
}
