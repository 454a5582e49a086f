-- Sends POST requests, and prints one line of JSON with the results.

wrk.method = "POST"
wrk.headers["Accept"] = "application/json"

function done(summary, latency)
  local failed = summary.errors.connect + summary.errors.read + summary.errors.write
    + summary.errors.status + summary.errors.timeout
  io.write(string.format(
    '\n{"requests": %d, "microseconds": %d, "failed": %d, "p50": %d, "p99": %d, "p99.9": %d}\n',
    summary.requests, summary.duration, failed,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
