using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (services = [(name = "main", worker = .worker)]);

const worker :Workerd.Worker = (
  modules = [
    (name = "worker", esModule = embed "dist/worker.js"),
    (name = "flakeid.wasm", wasm = embed "node_modules/flakeid-wasm/lib/flakeid_bg.wasm"),
  ],
  compatibilityDate = "2026-01-01",
);
