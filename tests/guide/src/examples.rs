//! Runs programs of `examples/` that no command of the guide starts.

use flakeid_steps::servers::{Servers, free_port};
use flakeid_steps::{Failed, Outcome, Step, files, root, target_folder};

use crate::run::{Background, Built, Service, WORK, bounded};

const ORDER: &str = r#"{"item": "tea"}"#;

const MANIFEST: &str = "import sys, yaml; \
    kinds = [part['kind'] for part in yaml.safe_load_all(open(sys.argv[1]))]; \
    assert kinds == ['Job', 'Deployment'], kinds";

/// The keyring of the programs with public IDs.
const KEYRING: &str = "a 000102030405060708090a0b0c0d0e0f\n";

pub(crate) fn run(built: &Built, stores: &Servers) -> Outcome {
    rust()?;
    python(&built.python)?;
    lambda(&built.python, stores)?;
    node(&built.node)?;
    node_types(&built.node_types, stores)?;
    prisma(&built.prisma, stores)?;
    axum(stores)?;
    go_databases(built, stores)?;
    go_tests(built)?;
    uuid_columns(stores)?;
    orms(stores)
}

/// Returns an empty folder for programs, and the URL of their store in it.
fn prepare_folder(name: &str) -> Result<(String, String), Failed> {
    let folder = format!("{WORK}/{name}");
    files::empty(&folder)?;
    files::write(format!("{folder}/public.keys"), KEYRING)?;
    let store = format!("sqlite://{}/flakeid.db", files::shown(&root().join(&folder))?);
    Ok((folder, store))
}

fn rust() -> Outcome {
    let (folder, store) = prepare_folder("rust")?;
    for program in ["first", "lease", "clocks", "public_ids"] {
        let run = ["run", "--quiet", "--locked", "-p", "flakeid-examples", "--bin", program];
        Step::cargo(&run).within(&folder).env("FLAKEID_STORE", &store).run()?;
    }
    Ok(())
}

fn python(python: &str) -> Outcome {
    let (folder, store) = prepare_folder("python")?;
    for program in [
        "first.py",
        "lease.py",
        "asyncio_ids.py",
        "clocks.py",
        "node_range.py",
        "public_ids.py",
        "sqlmodel_order.py",
        "multiprocessing/pool.py",
    ] {
        let file = files::shown(&root().join("examples").join(program))?;
        // -P: Python must not import modules from the program's folder.
        bounded(python, &["-P", &file]).within(&folder).env("FLAKEID_STORE", &store).run()?;
    }
    let manifest = ["-c", MANIFEST, "examples/kubernetes/deployment.yaml"];
    bounded(python, &manifest).run()?;

    let started = |arguments: &[&str], example: &str| {
        Step::new(python, arguments)
            .within(&folder)
            .env("PYTHONPATH", root().join("examples").join(example))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("FLAKEID_STORE", &store)
    };
    let start = |module: &str, example: &str, arguments: &[&str]| {
        started(&["-m", module], example).args(arguments)
    };
    let port = free_port()?;
    let bind = format!("127.0.0.1:{port}");
    let gunicorn = ["--preload", "--workers", "2", "--bind", &bind, "--no-control-socket"];
    let gunicorn = start("gunicorn", "gunicorn", &gunicorn).args(&["app:application"]);
    Service::start(gunicorn, port)?.check_ids("GET", "/", "")?;

    let port = free_port()?;
    let http = format!("127.0.0.1:{port}");
    let uwsgi =
        ["-c", "import pyuwsgi; pyuwsgi.run()", "--http", &http, "--master", "--processes", "2"];
    let uwsgi = started(&uwsgi, "gunicorn").args(&["--die-on-term", "--module", "app:application"]);
    Service::start(uwsgi, port)?.check_ids("GET", "/", "")?;

    let port = free_port()?;
    let uvicorn = ["fastapi_ids:app", "--port", &port.to_string(), "--log-level", "warning"];
    Service::start(start("uvicorn", ".", &uvicorn), port)?.check_ids("POST", "/orders", "")?;

    let worker = ["-A", "tasks", "worker", "--concurrency", "2", "--loglevel", "WARNING"];
    let worker = Background::start(start("celery", "celery", &worker))?;
    let send = files::shown(&root().join("examples/celery/send.py"))?;
    bounded(python, &[&send]).within(&folder).env("PYTHONDONTWRITEBYTECODE", "1").run()?;
    drop(worker);
    Ok(())
}

/// Calls the function of AWS Lambda twice. Its namespace is in a table of its own, because a chapter creates a namespace
/// of the same name.
fn lambda(python: &str, stores: &Servers) -> Outcome {
    let store = stores.url("dynamodb")?.replace("@flakeid?", "@lambda?");
    let command = files::shown(&target_folder().join("debug/flakeid"))?;
    let init = ["leases", "init", "--store", &store, "--namespace", "orders", "--fresh"];
    bounded(&command, &init).run()?;
    let calls = "import handler; [print(handler.handler({}, None)['id']) for _ in range(2)]";
    let printed = bounded(python, &["-c", calls])
        .env("PYTHONPATH", root().join("examples/aws"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("FLAKEID_STORE", &store)
        .printed()?;
    let ids = printed.lines().map(str::parse).collect::<Result<Vec<u64>, _>>();
    if !matches!(ids.as_deref(), Ok([first, second]) if first < second) {
        return Err(Failed(format!("examples/aws/handler.py printed\n{printed}")));
    }
    Ok(())
}

fn node(folder: &str) -> Outcome {
    let store = format!("sqlite://{folder}/flakeid.db");
    files::write(format!("{folder}/public.keys"), KEYRING)?;
    for program in ["first.mjs", "lease.mjs", "public_ids.mjs", "clocks.test.mjs"] {
        files::copy(format!("examples/{program}"), format!("{folder}/{program}"))?;
        bounded("node", &[program]).within(folder).env("FLAKEID_STORE", &store).run()?;
    }
    let port = free_port()?;
    let pm2 =
        Step::new("node", &["node_modules/pm2/bin/pm2-runtime", "start", "ecosystem.config.cjs"])
            .within(folder)
            .env("PM2_HOME", format!("{folder}/pm2"))
            .env("FLAKEID_STORE", &store)
            .env("PORT", port.to_string());
    Service::start(pm2, port)?.check_ids("POST", "/orders", ORDER)
}

fn node_types(folder: &str, stores: &Servers) -> Outcome {
    files::write(format!("{folder}/public.keys"), KEYRING)?;
    let url = stores.url("postgres")?;
    for program in ["drizzle.mjs", "kysely.mjs", "typeorm.mjs"] {
        bounded("node", &[program]).within(folder).env("DATABASE_URL", url).run()?;
    }
    Ok(())
}

/// Generates Prisma's client without the schema engine. Only migrations need that engine, but the
/// command would download it. The given replacement is never called.
fn prisma(folder: &str, stores: &Servers) -> Outcome {
    files::write(format!("{folder}/public.keys"), KEYRING)?;
    bounded("node", &["node_modules/prisma/build/index.js", "generate"])
        .within(folder)
        .env("PRISMA_SCHEMA_ENGINE_BINARY", "/bin/true")
        .run()?;
    let step = bounded("node", &["orders.mjs"]).within(folder);
    let printed = step.env("DATABASE_URL", stores.url("postgres")?).printed()?;
    let orders: serde_json::Value = serde_json::from_str(&printed).unwrap_or_default();
    let id = |order: usize| orders[order]["id"].as_str().unwrap_or_default();
    let right = id(0).starts_with("ord_a")
        && id(1).starts_with("ord_a")
        && id(0) != id(1)
        && orders[0]["again"].is_null()
        && orders[1]["again"] == orders[0]["id"];
    if !right || orders.as_array().map(Vec::len) != Some(2) {
        return Err(Failed(format!("examples/prisma printed\n{printed}")));
    }
    Ok(())
}

/// Builds an example without optimisation, because each example is a separate workspace and none
/// of it was built before. Returns the path of the program.
fn built(name: &str) -> Result<String, Failed> {
    let manifest = format!("examples/{name}/Cargo.toml");
    let target = root().join(WORK).join(name);
    Step::cargo(&["build", "--locked", "--manifest-path", &manifest])
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .run()?;
    files::shown(&target.join(format!("debug/flakeid-example-{name}")))
}

fn axum(stores: &Servers) -> Outcome {
    let program = built("axum")?;
    let url = stores.url("postgres")?;
    let flakeid = files::shown(&flakeid_steps::target_folder().join("debug/flakeid"))?;
    let init = ["leases", "init", "--fresh", "--namespace", "orders", "--store", url];
    bounded(&flakeid, &init).run()?;
    let port = free_port()?;
    let service = Step::new(&program, &[]).env("DATABASE_URL", url).env("PORT", port.to_string());
    let service = Service::start(service, port)?;
    service.check_ids("POST", "/orders", ORDER)?;
    let first = service.request("POST", "/orders", ORDER)?;
    let id = first["id"].as_str().unwrap_or_default();
    let second =
        service.request("POST", "/orders", &format!(r#"{{"item": "tea", "again": "{id}"}}"#))?;
    if second["again"] != first["id"] {
        return Err(Failed(format!("examples/axum did not repeat order {id}: {second}")));
    }
    service.check_rejected("POST", "/orders", &format!(r#"{{"item": "tea", "again": {id}}}"#))
}

/// The folder whose `go.mod` pins sqlc.
const SQLC: &str = "tests/guide/sqlc";

/// Checks that sqlc generates the files that the example contains.
fn sqlc() -> Outcome {
    let folder = root().join(WORK).join("sqlc");
    // Without cgo, sqlc contains PostgreSQL's parser as WebAssembly, which needs no C compiler.
    Step::new("go", &["install", "-trimpath", "tool"])
        .within(SQLC)
        .env("CGO_ENABLED", "0")
        .env("GOBIN", &folder)
        .env("GOFLAGS", "-mod=readonly")
        // An older Go downloads the version that go.mod requires.
        .env("GOTOOLCHAIN", "auto")
        .run()?;
    let sqlc = files::shown(&folder.join("sqlc"))?;
    bounded(&sqlc, &["diff"]).within("examples/go-databases").run()
}

/// Writes rows with GORM, pgx and sqlc. The lease uses the namespace of `axum`.
fn go_databases(built: &Built, stores: &Servers) -> Outcome {
    sqlc()?;
    let url = stores.url("postgres")?;
    go(&["run", "-tags", "flakeid_shared", ".", url], built).within("examples/go-databases").run()
}

/// Runs the tests in Go that the page on testing quotes.
fn go_tests(built: &Built) -> Outcome {
    let test = ["test", "-count=1", "-tags", "flakeid_shared", "./testing"];
    go(&test, built).within("examples/go").run()
}

/// Returns a step of Go with the C library.
fn go(arguments: &[&str], built: &Built) -> Step {
    let lib = built.c_library.join("lib");
    bounded("go", arguments)
        .env("PKG_CONFIG_PATH", lib.join("pkgconfig"))
        .env("LD_LIBRARY_PATH", &lib)
        .env("CGO_LDFLAGS", format!("-L{}", lib.display()))
}

/// Adds rows with sqlx and diesel to a table of `PostgreSQL` whose keys are UUIDs. Both print the IDs that they find. The
/// lease uses the namespace of `axum`.
fn uuid_columns(stores: &Servers) -> Outcome {
    let program = built("uuid-columns")?;
    let url = stores.url("postgres")?;
    let step = bounded(&program, &[]).env("DATABASE_URL", url).env("FLAKEID_STORE", url);
    let printed = step.printed()?;
    let counts = printed.lines().map(|line| line.matches("Id(").count()).collect::<Vec<_>>();
    let is_right =
        matches!(counts[..], [of_sqlx, of_diesel] if of_sqlx > 0 && of_diesel == of_sqlx + 1);
    if !is_right {
        return Err(Failed(format!("examples/uuid-columns printed\n{printed}")));
    }
    Ok(())
}

/// Adds two orders with each program, which prints the stored order and the number of orders.
/// With `PostgreSQL`, the programs use the namespace and the table of `axum`.
fn orms(stores: &Servers) -> Outcome {
    let (folder, store) = prepare_folder("orms")?;
    let url = stores.url("postgres")?;
    for (name, database, store) in [("diesel", "orders.db", store.as_str()), ("sea-orm", url, url)]
    {
        let program = built(name)?;
        let add = |item: &str| {
            let step = bounded(&program, &[item]).within(&folder).env("DATABASE_URL", database);
            step.env("FLAKEID_STORE", store).printed()
        };
        let (first, second) = (add("tea")?, add("coffee")?);
        let id = |text: &str| {
            let order: serde_json::Value = serde_json::from_str(text.lines().next()?).ok()?;
            order["id"].as_str()?.parse::<u64>().ok()
        };
        let counts = [&first, &second].map(|text| {
            let count = text.lines().nth(1)?.split_once(' ')?.0;
            count.parse::<usize>().ok()
        });
        let counted = matches!(counts, [Some(one), Some(two)] if two == one + 1);
        if id(&first).is_none() || id(&first) >= id(&second) || !counted {
            return Err(Failed(format!("examples/{name} printed\n{first}\n{second}")));
        }
    }
    Ok(())
}
