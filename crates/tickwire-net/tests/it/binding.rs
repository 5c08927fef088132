//! Ports and positions.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};

use tickwire_net::{BindError, Carries, Driver};
use tickwire_session::echo::DatagramEcho;
use tickwire_session::{Events, Session};

use crate::{GLANCE, PATIENCE, addr_of};

#[track_caller]
fn check_taken(addr: SocketAddr, carries: Carries) {
    let error = Driver::new().unwrap().bind(addr, carries).unwrap_err();
    assert!(
        matches!(error, BindError::Taken { addr: named } if named == addr),
        "{error}"
    );
}

#[test]
fn a_port_that_another_program_has_is_taken() {
    let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    check_taken(udp.local_addr().unwrap(), Carries::Datagrams);
    check_taken(udp.local_addr().unwrap(), Carries::Both);

    let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    check_taken(tcp.local_addr().unwrap(), Carries::Streams);
    check_taken(tcp.local_addr().unwrap(), Carries::Both);
}

#[test]
fn a_port_that_another_driver_has_is_taken() {
    for carries in [Carries::Datagrams, Carries::Streams, Carries::Both] {
        let mut driver = Driver::new().unwrap();
        let server = driver.bind("127.0.0.1:0".parse().unwrap(), carries);
        let addr = driver.local_addr(server.unwrap()).unwrap();
        check_taken(addr, carries);
        // Here as well, if all of the machine's addresses are asked for.
        check_taken((Ipv4Addr::UNSPECIFIED, addr.port()).into(), carries);
    }
}

#[test]
fn an_address_of_another_machine_is_named_as_such() {
    // Reserved for documentation (RFC 5737), so no machine has it.
    let addr = "203.0.113.1:0".parse().unwrap();
    let error = Driver::new().unwrap().bind(addr, Carries::Both);
    assert!(matches!(error, Err(BindError::Elsewhere { .. })));
}

#[test]
fn a_closed_port_is_free_at_once() {
    let mut driver = Driver::new().unwrap();
    let server = driver
        .bind("127.0.0.1:0".parse().unwrap(), Carries::Both)
        .unwrap();
    let addr = driver.local_addr(server).unwrap();
    driver.close(server);
    assert_eq!(driver.local_addr(server), None);
    driver.bind(addr, Carries::Both).unwrap();
}

#[test]
fn others_keep_their_position_when_a_node_is_closed() {
    let mut driver = Driver::new().unwrap();
    let first = driver.open();
    let server = driver
        .bind("127.0.0.1:0".parse().unwrap(), Carries::Datagrams)
        .unwrap();
    let client = driver.open();
    driver.close(first);

    let mut sessions = [(); 3].map(|()| DatagramEcho::default());
    let to = addr_of(&driver, server);
    sessions[client.index()].send(to, b"still here");
    // A session at a closed position is left alone.
    sessions[first.index()].send(to, b"never sent");
    let deadline = driver.now() + PATIENCE;
    while sessions[client.index()].poll_event().is_none() {
        assert!(driver.now() < deadline);
        let until = driver.now() + GLANCE;
        let mut lent = sessions
            .each_mut()
            .map(|session| session as &mut dyn Session);
        driver.turn(until, &mut lent).unwrap();
    }
    assert_eq!(driver.counters().datagrams_sent, 2);
    assert_eq!(driver.open(), first);
}

#[test]
#[should_panic(expected = "node 1 is open")]
fn an_open_node_without_a_session_is_a_mistake_of_the_caller() {
    let mut driver = Driver::new().unwrap();
    driver.open();
    driver.open();
    let now = driver.now();
    driver
        .turn(now, &mut [&mut DatagramEcho::default()])
        .unwrap();
}
