//! Lines 16 to 18 and 20: reaching anything at all. Line 19 is about the harness's own ports, which are the host's: the
//! ports here stand for them.

use std::{
    net::TcpListener,
    os::{linux::net::SocketAddrExt, unix::net},
    time::Duration,
};

use podium_types::execution::Ended;
use serde_json::json;

use super::{all_held, attack, say};
use crate::common::{Place, attacked};

#[tokio::test]
async fn line_16_nothing_can_be_reached_and_tries_are_counted() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let execution = sandbox.execute(&attack(&place, "16_network", &json!({}))).await.unwrap();
    all_held(&*sandbox, "16", &execution, 11);
    assert!(execution.output.text().ends_with("local works\n"), "{}", execution.output.text());
    let counted = execution.blocked.get("network").copied().unwrap_or(0);
    assert!((4..=30).contains(&counted), "{counted} counted");
    let quiet = sandbox.execute(&Place::new().python("print(1)")).await.unwrap();
    assert_eq!(quiet.blocked.len(), 0);
}

#[tokio::test]
async fn line_17_and_19_sockets_of_the_host_are_out_of_reach() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let name = format!("podium-test-{}", std::process::id());
    let address = net::SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract = net::UnixListener::bind_addr(&address).unwrap();
    let path = place.folder.path().join("socket");
    let _path = net::UnixListener::bind(&path).unwrap();
    let port = TcpListener::bind("0.0.0.0:0").unwrap();
    let paths = json!([
        path,
        "/var/run/docker.sock",
        "/run/docker.sock",
        "/run/dbus/system_bus_socket",
        "/run/containerd/containerd.sock"
    ]);
    let given =
        json!({"paths": paths, "names": [name], "ports": [port.local_addr().unwrap().port(), 22, 2375]});
    let execution = sandbox.execute(&attack(&place, "17_host_sockets", &given)).await.unwrap();
    all_held(&*sandbox, "17, 19", &execution, 25);
    port.set_nonblocking(true).unwrap();
    assert!(port.accept().is_err(), "somebody came");
}

#[tokio::test]
async fn line_18_odd_families_are_refused() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let execution = sandbox.execute(&attack(&place, "18_families", &json!({}))).await.unwrap();
    let names = all_held(&*sandbox, "18", &execution, 15);
    for name in names {
        assert!(name.ends_with("PermissionError 1"), "not refused but useless: {name}");
    }
}

#[tokio::test]
async fn line_20_an_installer_fails_with_words() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut job = attack(&place, "20_pip", &json!({}));
    job.timeout = Duration::from_mins(2);
    let execution = sandbox.execute(&job).await.unwrap();
    all_held(&*sandbox, "20", &execution, 1);
    let text = execution.output.text();
    assert!(text.contains("No matching distribution") || text.contains("No module named pip"), "{text}");
    assert_eq!(execution.ended, Ended::Exit(0));
    say(&*sandbox, "20", &format!("pip gave up after {} ms", execution.wall_ms));
}
