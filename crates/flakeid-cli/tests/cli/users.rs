//! Tests of several users of one host who name no store. Each test runs a script as root in a copy of this system's
//! files, without the signs of a container. The copy and all processes disappear with the script.

use std::process::Command;

/// Creates the copy in a file system in memory, and runs the script there. `as_user N` runs a command as the user with
/// this number. `next N FILE` generates 20,000 IDs as that user.
const HOST: &str = r#"
    set -e
    mount -t tmpfs none "$1" && cd "$1" && mkdir files work host
    mount -t overlay overlay -o lowerdir=/,upperdir=files,workdir=work host
    mount -t proc proc host/proc && mount --rbind /dev host/dev
    rm -rf host/.dockerenv host/run/.containerenv host/etc/flakeid host/var/lib/flakeid
    echo 8d5c3f9a7b6e4d2c8f1a0b9c7d6e5f4a > host/etc/machine-id
    install -m 755 "$2" host/usr/bin/flakeid
    for user in 1000 1001; do install -d -o $user -m 700 host/home/$user; done
    cat > host/script - <<'END'
        mkdir /test && cd /test
        as_user() {
            user=$1; shift
            home=/home/$user; [ $user != 0 ] || home=/root
            setpriv --reuid $user --regid $user --clear-groups \
                env -i PATH=/usr/bin:/bin HOME=$home "$@"
        }
        next() { as_user $1 flakeid next -n 20000 > $2; }
        refused() {
            if text=$(as_user $1 flakeid next 2>&1); then echo "user $1 got $text"; exit 1; fi
            case $text in *"$2"*) ;; *) echo "user $1: $text"; exit 1;; esac
        }
END
    printf '%s\n' "$3" >> host/script
    exec chroot host sh -e /script"#;

/// Runs a script on such a host, and returns its output.
fn on_a_host(script: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let root = rustix::process::geteuid().is_root();
    let way: &[&str] = if root { &["unshare"] } else { &["sudo", "-n", "unshare"] };
    let mut command = Command::new(way[0]);
    command
        .args(&way[1..])
        .args(["--mount", "--pid", "--fork", "sh", "-c", HOST, "sh"])
        .arg(folder.path());
    let output = command.args([env!("CARGO_BIN_EXE_flakeid"), script]).output().unwrap();
    let (text, error) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success(),
        "this test runs programs as several users, which requires root, or sudo without a \
         password: {text}{error}"
    );
    text
}

#[test]
fn embedded_stores_of_two_users_begin_at_different_nodes_and_say_whom_they_serve() {
    let text = on_a_host(
        r#"
        next 0 root 2> said0 & first=$!
        next 1000 user 2> said1000
        wait $first || { cat said0; exit 1; }
        for file in said0 said1000; do grep -q "for the programs of this user" $file; done
        next 0 more 2> nothing
        [ ! -s nothing ]
        sort root user more | uniq -d | wc -l
        stat -c '%u %a' /var/lib/flakeid /home/1000/.local/state/flakeid"#,
    );
    assert_eq!(text, "0\n0 700\n1000 700\n");
}

#[test]
fn users_of_a_host_with_a_named_store_share_its_broker() {
    let text = on_a_host(
        r#"
        mkdir -p /etc/flakeid /run/flakeid /var/lib/flakeid-host
        chown 999 /run/flakeid /var/lib/flakeid-host
        echo 'http+unix:///run/flakeid/broker.sock' > /etc/flakeid/store
        refused 1000 /run/flakeid/broker.sock
        as_user 999 flakeid serve --store sqlite:///var/lib/flakeid-host/flakeid.db --no-ids \
            --unix /run/flakeid/broker.sock --unix-mode 0666 --max-leases-per-client 2 > log 2>&1 &
        server=$!
        until grep -q broker.sock log; do kill -0 $server || { cat log; exit 1; }; sleep 0.1; done
        for run in 1 2 3; do
            next 0 root$run & first=$!
            next 1000 user$run & second=$!
            next 1001 other$run
            wait $first; wait $second
        done
        sort root? user? other? | uniq | wc -l
        sort root? user? other? | uniq -d | wc -l

        # One user cannot take the nodes of the others.
        for holder in 1 2; do
            as_user 1000 flakeid exec -- sh -c 'echo held; sleep 60' > held$holder 2>&1 &
        done
        until grep -q held held1 && grep -q held held2; do sleep 0.1; done
        refused 1000 "2 leases"
        next 1001 other4

        # Without the server, no program falls back to a store of its own.
        pkill -f 'flakeid serve'; wait $server || true
        for user in 0 1000; do refused $user /run/flakeid/broker.sock; done
        ls /var/lib/flakeid /home/*/.local 2>/dev/null | wc -l"#,
    );
    assert_eq!(text, "180000\n0\n0\n");
}

#[test]
fn file_that_names_the_host_store_is_refused_unless_root_alone_can_write_it() {
    on_a_host(
        r#"
        mkdir -p /etc/flakeid
        echo 'sqlite:///var/lib/elsewhere.db' > /etc/flakeid/store
        chmod 666 /etc/flakeid/store
        for user in 0 1000; do refused $user "other users than root can write"; done
        chmod 600 /etc/flakeid/store
        refused 1000 "cannot be read"
        next 0 ids
        chmod 644 /etc/flakeid/store; chown 1000 /etc/flakeid/store
        for user in 0 1001; do refused $user "belongs to user 1000"; done
        chown 0 /etc/flakeid/store; chmod 777 /etc/flakeid
        refused 1001 "other users than root can write"
        chmod 755 /etc/flakeid
        rm /etc/flakeid/store; mkdir /etc/flakeid/store
        for user in 0 1000; do refused $user "cannot be read"; done
        chmod 700 /etc/flakeid
        refused 1000 "cannot be read""#,
    );
}

#[test]
fn store_that_another_user_planted_is_refused() {
    on_a_host(
        r#"
        # A directory of another user, in the place of the user's and of root's.
        install -d -o 1001 -m 777 /home/1000/.local /home/1000/.local/state
        install -d -o 1001 -m 777 /home/1000/.local/state/flakeid /var/lib/flakeid
        refused 1000 "belongs to user 1001"
        refused 0 "belongs to user 1001"
        # A link to the store of another user, and a file with a second name.
        rm -r /home/1000/.local /var/lib/flakeid
        next 1001 ids; next 1000 ids
        own=/home/1000/.local/state/flakeid; other=/home/1001/.local/state/flakeid
        rm $own/flakeid.db; ln -s $other/flakeid.db $own/flakeid.db
        refused 1000 "flakeid.db"
        rm $own/flakeid.db; ln $other/flakeid.db $own/flakeid.db
        refused 1000 "belongs to user 1001"
        # Another user can neither open nor lock the store.
        if as_user 1000 flock --nonblock $other/flakeid.db true; then exit 1; fi"#,
    );
}

#[test]
fn container_with_the_directory_of_the_host_shares_its_store() {
    let text = on_a_host(
        r#"
        next 0 first
        mkdir /container
        mount --rbind / /container
        in_container() { chroot /container env -i PATH=/usr/bin:/bin "$@"; }
        : > /.dockerenv
        if in_container flakeid next 2> said; then exit 1; fi
        grep -q 'container' said
        in_container flakeid next -n 20000 --store sqlite:///var/lib/flakeid/flakeid.db > inside &
        rm /.dockerenv
        next 0 outside
        wait $!
        sort first inside outside | uniq -d | wc -l"#,
    );
    assert_eq!(text, "0\n");
}
