//! The voting members of an etcd cluster, and the start times of their processes.

use std::thread;
use std::time::Duration;

use serde_json::json;
use ureq::Agent;

use super::keys::number;
use super::run::Voters;
use super::store::EtcdStore;
use flakeid_protocol::store::Fault;

/// The timeout for a member's report of its start time. All members are queried in parallel, so that unreachable
/// members delay the result by only one timeout.
const REPORT_TIMEOUT: Duration = Duration::from_secs(1);

/// The size limit for a member's metrics, in bytes. The metrics of etcd 3.4 are about 150 kB long.
const LONGEST_REPORT: u64 = 16 << 20;

impl EtcdStore {
    /// Returns the voting members that the connected member lists, with the process start times of the members that
    /// respond. Queries the addresses in the URL and the addresses that the members advertise. The result is empty if
    /// the request for the list of members is refused, for example by a proxy or because the user lacks the required
    /// role.
    pub(super) fn voters(&mut self) -> Result<Voters, Fault> {
        let answer = match self.gateway.call("/v3/cluster/member/list", &json!({})) {
            Err(Fault::Rejected(_)) => return Ok(Voters::new()),
            answer => answer?.body,
        };
        let mut voters = Voters::new();
        let mut places = self.gateway.places.clone();
        for member in answer["members"].as_array().into_iter().flatten() {
            // Learners do not vote.
            if member["isLearner"] == json!(true) {
                continue;
            }
            voters.insert(number(&member["ID"])?, String::new());
            let advertised = member["clientURLs"].as_array().into_iter().flatten();
            places.extend(advertised.filter_map(|url| Some(url.as_str()?.to_owned())));
        }
        places.sort();
        places.dedup();
        let agent = &self.gateway.reporter;
        let reports = thread::scope(|scope| {
            let threads: Vec<_> =
                places.iter().map(|place| scope.spawn(|| report(agent, place))).collect();
            let reports = threads.into_iter().filter_map(|thread| thread.join().ok().flatten());
            reports.collect::<Vec<_>>()
        });
        for (id, start) in reports {
            voters.entry(id).and_modify(|known| *known = start);
        }
        Ok(voters)
    }
}

/// Returns the ID and the process start time of the member at an address, or `None` if an error occurs.
fn report(agent: &Agent, place: &str) -> Option<(u64, String)> {
    let get = agent.get(format!("{}/metrics", place.trim_end_matches('/')));
    let mut answer = get.config().timeout_global(Some(REPORT_TIMEOUT)).build().call().ok()?;
    let body = answer.body_mut().with_config().limit(LONGEST_REPORT).read_to_string().ok()?;
    process_of(&body)
}

/// Parses a member's ID and the start time of its process from metrics in the Prometheus text format.
fn process_of(metrics: &str) -> Option<(u64, String)> {
    let value = |name: &str| metrics.lines().find_map(|line| line.strip_prefix(name));
    let id = value("etcd_server_id{server_id=\"")?.split('"').next()?;
    let start = value("process_start_time_seconds ")?.trim();
    Some((u64::from_str_radix(id, 16).ok()?, start.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::process_of;

    #[test]
    fn member_id_and_start_time_are_parsed_from_metrics() {
        let report = "# TYPE etcd_server_id gauge\n\
            etcd_server_id{server_id=\"fba64421c9bf9dfc\"} 1\n\
            # HELP process_start_time_seconds Start time of the process\n\
            process_start_time_seconds 1.79535935608e+09\n";
        let process = Some((0xfba6_4421_c9bf_9dfc, "1.79535935608e+09".to_owned()));
        assert_eq!(process_of(report), process);
        assert_eq!(process_of("etcd_server_id{server_id=\"7\"} 1\n"), None);
        assert_eq!(process_of("process_start_time_seconds 1\n"), None);
    }
}
