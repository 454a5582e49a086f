//! The whole fleet: the members, the brokers, the store, the network, and the events that change them.

use std::hint::black_box;
use std::time::Duration;

use flakeid_core::Layout;
use flakeid_protocol::http::{HttpAnswer, HttpRequest};
use flakeid_protocol::{Namespace, Token};

use crate::broker::Broker;
use crate::config::{Config, Mutant};
use crate::event::Event;
use crate::fault::Fault;
use crate::liveness::Liveness;
use crate::member::Member;
use crate::network::{Link, Network};
use crate::queue::Queue;
use crate::random::Random;
use crate::slab::Slab;
use crate::store::SimulatedStore;
use crate::summary::Summary;
use crate::windows::{Overlap, Windows};

/// A request in transit.
#[derive(Clone)]
pub struct Message {
    pub member: u32,
    pub attempt: u32,
    pub broker: usize,
    pub request: HttpRequest,
}

/// A response in transit.
pub struct Answer {
    pub member: u32,
    pub attempt: u32,
    pub result: Result<HttpAnswer, String>,
}

pub struct World {
    pub config: Config,
    pub now: u64,
    pub random: Random,
    pub queue: Queue<Event>,
    pub namespace: Namespace,
    pub layout: Layout,
    pub members: Vec<Member>,
    pub brokers: Vec<Broker>,
    pub store: SimulatedStore,
    pub network: Network,
    pub messages: Slab<Message>,
    pub answers: Slab<Answer>,
    /// The store's responses in transit.
    pub replies: Slab<(flakeid_protocol::keeper::Reply, u64)>,
    pub faults: Slab<Fault>,
    pub windows: Windows,
    pub liveness: Liveness,
    /// The token that members use for their first request, while copies of one virtual machine start.
    pub shared_token: Option<Token>,
    pub summary: Summary,
    pub violation: Option<String>,
}

/// The number of events whose members are read at a time.
const READ_AHEAD: u64 = 16;
/// The time within which all members of a fleet start, in milliseconds.
const STARTS_WITHIN_MS: u64 = 20_000;

impl World {
    pub fn new(config: Config) -> Self {
        let random = Random::new(config.seed);
        let namespace = config.namespace();
        let layout = namespace.layout;
        let count = config.members as u32;
        let mut queue = Queue::new();
        let members = (0..count).map(|number| {
            let starts_within = STARTS_WITHIN_MS.min(config.members as u64 * 20);
            queue.push(random.below(starts_within), Event::Start(number));
            Member { runs: false, ..Member::new(&config, &layout, number, 0, 0, &random) }
        });
        let members: Vec<Member> = members.collect();
        let brokers: Vec<_> =
            (0..config.brokers).map(|number| Broker::new(number, &namespace)).collect();
        if let Some(every) = config.fault_every_ms {
            queue.push(every, Event::BeginFault);
        }
        queue.push(0, Event::CheckLiveness);
        let mut world = Self {
            now: 0,
            store: SimulatedStore::new(
                &namespace,
                config.is_one_host && config.mutant != Mutant::FollowsSteps,
            ),
            network: Network::new(config.brokers),
            windows: Windows::new(layout.max_node() + 1),
            liveness: Liveness::new(config.members),
            messages: Slab::new(),
            answers: Slab::new(),
            replies: Slab::new(),
            faults: Slab::new(),
            shared_token: None,
            summary: Summary::default(),
            violation: None,
            config,
            random,
            queue,
            namespace,
            layout,
            members,
            brokers,
        };
        for broker in 0..world.brokers.len() {
            world.refresh(broker);
            world.wake_broker(broker, 0);
        }
        world
    }

    /// Simulates the fleet until the end, or until a rule is violated.
    ///
    /// # Errors
    /// The violated rule, with the seed.
    pub fn run(mut self) -> Result<Summary, String> {
        while let Some((now, event)) = self.queue.pop(self.config.length_ms) {
            self.now = now;
            if self.summary.events.is_multiple_of(READ_AHEAD) {
                self.read_ahead();
            }
            self.happen(event);
            if let Some(violation) = self.violation.take() {
                let Config { seed, mutant, .. } = self.config;
                return Err(format!("seed {seed}, {mutant:?}, after {now} ms: {violation}"));
            }
        }
        self.summary.longest_gap_ms = self.liveness.longest;
        Ok(self.summary)
    }

    /// Reads parts of the members that wake next. A large fleet does not fit into the caches, and the processor reads
    /// the memory of several members in the time of one.
    fn read_ahead(&self) {
        for event in self.queue.current().iter().take(READ_AHEAD as usize) {
            if let Event::Wake { member, .. } = event {
                let member = &self.members[*member as usize];
                black_box((member.wake, member.clock, member.keeper.is_closing()));
                black_box((member.keeper.progress().gains, member.keeper.pause(Duration::ZERO)));
                black_box(member.granter.map(|(node, _)| self.windows.latest(node)));
            }
        }
    }

    fn happen(&mut self, event: Event) {
        self.summary.events += 1;
        if let Some(member) = self.member_of(event)
            && self.members[member].is_paused
        {
            self.members[member].deferred.push(event);
            return;
        }
        match event {
            Event::Start(member) => self.start(member as usize),
            Event::Wake { member, wake } => {
                if self.members[member as usize].wake == wake {
                    self.wake(member as usize);
                }
            }
            Event::Deliver(message) => self.deliver(message),
            Event::Answer(answer) => {
                if let Some(Answer { member, attempt, result }) = self.answers.take(answer) {
                    self.answered(member as usize, attempt, result);
                }
            }
            Event::TimeOut { member, attempt } => {
                self.answered(member as usize, attempt, Err("the request timed out".into()));
            }
            Event::StopWaiting { broker, process, message } => {
                self.stop_waiting(broker as usize, process, message);
            }
            Event::WakeBroker { broker, wake } => {
                if self.brokers[broker as usize].wake == wake {
                    self.begin_pass(broker as usize);
                }
            }
            Event::Store { broker, request } => self.at_store(broker as usize, request),
            Event::StoreAnswer { broker, request, reply } => {
                if let Some((reply, until)) = self.replies.take(reply) {
                    self.store_answered(broker as usize, request, reply, until);
                }
            }
            Event::BeginFault => self.begin_fault(),
            Event::EndFault(fault) => {
                if let Some(fault) = self.faults.take(fault) {
                    self.end_fault(fault);
                }
            }
            Event::CheckLiveness => self.check_liveness(),
        }
    }

    fn member_of(&self, event: Event) -> Option<usize> {
        match event {
            Event::Wake { member, .. } | Event::TimeOut { member, .. } => Some(member as usize),
            Event::Answer(answer) => self.answers.get(answer).map(|answer| answer.member as usize),
            _ => None,
        }
    }

    pub fn violate(&mut self, violation: String) {
        self.violation.get_or_insert(violation);
    }

    /// Checks the result of a change of a node's windows.
    pub fn check_windows(&mut self, node: u64, changed: Result<(), Overlap>) {
        if let Err((first, second)) = changed {
            self.violate(format!(
                "I1: two windows of node {node} overlap: {first:?} and {second:?}"
            ));
        }
    }

    pub fn trace(&self, text: impl FnOnce() -> String) {
        if self.config.traces {
            println!("{:>9} {}", self.now, text());
        }
    }

    /// Returns the state of the network between a member and a broker.
    pub fn link(&self, member: usize, broker: usize) -> Link {
        self.network.between(self.members[member].zone, broker)
    }
}
