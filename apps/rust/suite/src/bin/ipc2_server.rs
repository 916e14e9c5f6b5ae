// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The server of the group ipc2 (orders.rs). The sender of the first request gives the orders; rivals wait,
//! and are served only in a contest. Prints nothing, runs for ever.

#![no_std]
#![no_main]

#[cfg(not(feature = "abi-v1"))]
mod server {
    use core::sync::atomic::Ordering::Relaxed;

    use suite::orders::{
        Message, OBEYED, SERVER_STRING, STARVED, WORDS, message, note, order, score, sum_of, task,
    };
    use suite::reading::{self, Reading};
    use tock::ErrorCode;
    use tock::relay::{self, Process, Registry};
    use tock::runtime::link;

    static GOT: Message<WORDS> = message(); // the current request
    static NOTE: Message<{ note::WORDS }> = message();
    static SCORE: Message<{ score::WORDS }> = message();
    static ANSWER: Message<1> = message();

    struct Server {
        stamps: bool,
        checks: bool,
        has_rivals: bool,
        master: Option<Process>,
    }

    fn write_down<const N: usize>(message: &Message<N>, at: usize, reading: Reading) {
        message[at].store(reading[0], Relaxed);
        message[at + 1].store(reading[1], Relaxed);
    }

    impl Server {
        /// Sleeps until the master, who gives the orders, has a request, and takes it.
        fn take_next(&mut self) -> Result<(u32, Process), ErrorCode> {
            loop {
                let client = relay::request();
                let master = *self.master.get_or_insert(client);
                if !self.has_rivals {
                    return relay::take();
                }
                if client.low == master.low {
                    return relay::take_of(master);
                }
            }
        }

        /// Responds to everybody, and measures from one response to the client `of` to its next ones.
        fn contest(&self, master: Process, of: u32, enough: u32) -> Result<(), ErrorCode> {
            let counts = if of == order::WHO_ORDERS {
                master.low
            } else {
                of
            };
            let (mut own, mut others, mut from) = (0, 0, [0; 2]);
            while own <= enough && others < STARVED {
                relay::request();
                let Ok((_, client)) = relay::take() else {
                    continue;
                };
                let _ = relay::respond();
                if client.low != counts {
                    others += 1;
                    continue;
                }
                if own == 0 {
                    from = reading::take(0);
                }
                own += 1;
            }
            let to = reading::take(0);
            write_down(&SCORE, score::FROM, from);
            write_down(&SCORE, score::TO, to);
            SCORE[score::ENOUGH].store((own > enough).into(), Relaxed);
            // The response that ends the contest: the master's request is there, or will come.
            relay::out(&SCORE)?;
            while relay::take_of(master).is_err() {
                relay::request();
            }
            relay::respond()
        }

        /// Carries out the request if it is an order, and returns whether it was.
        fn obey(&mut self, length: u32, master: Process) -> Result<bool, ErrorCode> {
            let word = |at: usize| GOT[at].load(Relaxed);
            if length as usize != 4 * order::WORDS || word(order::MARK) != order::IS {
                return Ok(false);
            }
            let (task, size) = (word(order::TASK), word(order::SIZE) as usize / 4);
            let (of, answers) = (word(order::OF), word(order::ANSWERS));
            self.stamps = task == task::STAMP;
            self.checks = word(order::CHECK) != 0;
            ANSWER[0].store(OBEYED, Relaxed);
            relay::out(&ANSWER)?;
            let _ = relay::respond();
            match task {
                task::CONTEST => {
                    relay::out(&[])?;
                    self.contest(master, of, answers)?;
                }
                task::STAMP => relay::out(&NOTE)?,
                _ => relay::out(GOT.get(..size).unwrap_or(&[]))?,
            }
            Ok(true)
        }

        fn echo(&mut self) -> Result<(), ErrorCode> {
            if let Ok((length, client)) = self.take_next()
                && !self.obey(length, client)?
            {
                let _ = relay::respond();
            }
            Ok(())
        }

        fn stamp(&mut self) -> Result<(), ErrorCode> {
            let taken = self.take_next();
            let at = reading::take(0);
            if let Ok((length, client)) = taken
                && !self.obey(length, client)?
            {
                write_down(&NOTE, note::AT, at);
                NOTE[note::LENGTH].store(length, Relaxed);
                let words = GOT.get(..length as usize / 4).unwrap_or(&[]);
                NOTE[note::SUM].store(sum_of(words, self.checks), Relaxed);
                let _ = relay::respond();
            }
            Ok(())
        }
    }

    pub fn run() -> Result<(), ErrorCode> {
        Registry::String.name(SERVER_STRING)?;
        Registry::String.register()?;
        Registry::Package.register()?;
        relay::room(&GOT)?;
        relay::enable()?;
        let mut server = Server {
            stamps: false,
            checks: false,
            has_rivals: link().slots > 2,
            master: None,
        };
        loop {
            if server.stamps {
                server.stamp()?;
            } else {
                server.echo()?;
            }
        }
    }
}

#[cfg(not(feature = "abi-v1"))]
suite::helper!(|| server::run().map_or_else(|error| error as i32, |()| 0));

#[cfg(feature = "abi-v1")]
suite::helper!(|| suite::peer::rest());
