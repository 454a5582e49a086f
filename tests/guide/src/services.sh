# Functions for the commands of a tutorial: the services that run in terminals of their own.

services=

# Starts a script of commands in the background, and waits until its service listens on a port.
start_service() { # SCRIPT PORT
  { set +x; } 2>/dev/null
  # A shell without job control lets background commands ignore Ctrl-C.
  env --default-signal=INT setsid sh -eux "$1" &
  services="$services $!"
  until curl -s -o /dev/null "http://localhost:$2/"; do
    kill -0 "$!" || { echo "$1: the service does not listen on port $2" >&2; exit 1; }
    sleep 0.1
  done
  set -x
}

# Ends the services as Ctrl-C does.
stop_services() {
  { set +x; } 2>/dev/null
  for service in $services; do
    kill -INT "-$service" || { echo 'a service ended before it was stopped' >&2; exit 1; }
    wait "$service" || true
  done
  services=
  set -x
}

trap stop_services EXIT
trap 'exit 1' INT TERM
