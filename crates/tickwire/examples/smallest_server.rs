//! The smallest server, as it stands in the README: every lwar client gets a ship, and the ship turns.

use std::time::Duration;

use tickwire::Events;
use tickwire::lwar::{Kind, Server, ServerConfig, ServerEvent, Shape};
use tickwire::net::{self, Carries, Driver};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:32422");
    let mut driver = Driver::new()?;
    driver.bind(address.parse()?, Carries::Datagrams)?;
    let mut server = Server::new(driver.now(), ServerConfig::default(), net::secret()?);
    let mut ships = Vec::new();
    for step in 0_u64.. {
        driver.run_until(driver.now() + Duration::from_millis(16), &mut [&mut server])?;
        let orientation = (step % 360) as u16;
        let shape = Shape::Body {
            x: 0,
            y: 0,
            orientation,
            health: 100,
        };
        while let Some(event) = server.poll_event() {
            if let ServerEvent::Selected { player, .. } = event {
                ships.push(server.add(Kind::SHIP, player, shape)?);
            }
        }
        ships.iter().for_each(|&ship| server.set(ship, shape));
    }
    Ok(())
}
