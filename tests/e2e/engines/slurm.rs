//! docs/engines/slurm.sbatch and slurm-verdict.sbatch on a Slurm of this machine alone, submitted as docs/engines.md says.
//!
//! Guarantees: the cluster's ports are free ones of the address that the machine's name stands for (on many a loopback address;
//! where it stands for none, of all), its key is its own, all its files lie in the test's folder, and none of its processes is left,
//! unless the test is killed. Where Slurm is missing the test is skipped by name, and fails where `RERAY_REQUIRE_DEVICE` is set.

use super::{PLAIN, ended, engine, path, said, same_units, suite, unsharded};
use crate::book::pages::book;
use crate::device::device;
use crate::support::{Scratch, run, skip, text};
use serde_json::Value;
use std::fs;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Most that anything here takes, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// Most that daemons take to come up.
const START: Duration = Duration::from_secs(60);

/// Asks again and again; an error after so long.
fn until<T>(what: &str, patience: Duration, mut ask: impl FnMut() -> Option<T>) -> Result<T, String> {
    let began = Instant::now();
    while began.elapsed() < patience {
        if let Some(answer) = ask() {
            return Ok(answer);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(format!("{what}: not within {} s", patience.as_secs()))
}

/// A program, also where only root's PATH leads.
fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(more).map(|f| f.join(name)).find(|f| f.is_file())
}

/// Everything is there; otherwise the test is skipped, or fails.
fn slurm(test: &str) -> bool {
    let wanted =
        ["munged", "munge", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scontrol", "scancel"];
    let absent: Vec<&str> = wanted.into_iter().filter(|t| tool(t).is_none()).collect();
    if !absent.is_empty() {
        let why = format!("no {} (Debian: slurmctld, slurmd, slurm-client, munge)", absent.join(", "));
        assert!(std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(), "{test}: {why}, and Slurm is required");
        skip(test, &why);
    }
    absent.is_empty()
}

/// A cluster of one node, in a folder.
struct Cluster {
    folder: PathBuf,
    daemons: Vec<Child>,
}

impl Cluster {
    /// Starts one; what it says where it does not come up.
    fn start(folder: &Path) -> Result<Cluster, String> {
        for below in ["state", "spool", "run", "log"] {
            fs::create_dir_all(folder.join(below)).expect("a folder");
        }
        let key = folder.join("munge.key");
        said(
            Command::new("sh").args(["-c", "umask 077; head -c 256 /dev/urandom > \"$0\""]).arg(&key),
            Some(0),
        );
        let hardware = said(Command::new(tool("slurmd").expect("it is there")).arg("-C"), Some(0));
        let of = |key: &str| {
            let value = hardware.split_whitespace().find_map(|w| w.strip_prefix(key)?.strip_prefix('='));
            value.unwrap_or_else(|| panic!("slurmd -C says no {key}: {hardware}")).to_owned()
        };
        let user = said(Command::new("id").arg("-un"), Some(0));
        let host = of("NodeName");
        // (told to listen at one address only, Slurm takes that of the machine's name, and nothing else)
        let named =
            (host.as_str(), 0).to_socket_addrs().ok().and_then(|mut all| all.find(SocketAddr::is_ipv4));
        let (address, only) = match named {
            Some(a) => (a.ip().to_string(), "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny\n"),
            None => ("127.0.0.1".to_owned(), ""),
        };
        // (free while this looks; were one taken before Slurm has it, the daemon would say so and end)
        let free = [(); 2].map(|()| TcpListener::bind((address.as_str(), 0)).expect("a port"));
        let [controller, node] = free.map(|f| f.local_addr().expect("an address").port());
        let f = folder.display();
        let configuration = format!(
            "ClusterName=reray\nSlurmctldHost={host}({address})\nSlurmUser={user}\nSlurmdUser={user}\n\
             AuthType=auth/munge\nAuthInfo=socket={f}/run/munge.socket,cred_expire=5\nCredType=cred/munge\n\
             {only}SlurmctldPort={controller}\nSlurmdPort={node}\n\
             StateSaveLocation={f}/state\nSlurmdSpoolDir={f}/spool\n\
             SlurmctldPidFile={f}/run/slurmctld.pid\nSlurmdPidFile={f}/run/slurmd.pid\n\
             SlurmctldLogFile={f}/log/slurmctld.log\nSlurmdLogFile={f}/log/slurmd.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
             SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=0\n\
             ReturnToService=2\nKillWait=5\nMaxArraySize=1001\nGresTypes=gpu\n\
             NodeName={host} NodeAddr={address} CPUs={cpus} Gres=gpu:1 State=UNKNOWN\n\
             PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP\n",
            cpus = of("CPUs"),
            user = user.trim(),
        );
        fs::write(folder.join("slurm.conf"), configuration).expect("it is written");
        // (a GPU that is none: that --gres is taken is what it shows)
        fs::write(folder.join("gres.conf"), "Name=gpu File=/dev/null\n").expect("it is written");
        let mut cluster = Cluster { folder: folder.to_owned(), daemons: vec![] };
        let file = |name: &str| folder.join(name).display().to_string();
        cluster.daemon(
            "munged",
            &[
                "--foreground".into(),
                "--force".into(),
                format!("--key-file={}", key.display()),
                format!("--socket={}", file("run/munge.socket")),
                format!("--pid-file={}", file("run/munged.pid")),
                format!("--seed-file={}", file("run/munged.seed")),
                format!("--log-file={}", file("log/munged.log")),
                "--num-threads=10".into(),
            ],
        );
        let socket = format!("--socket={}", file("run/munge.socket"));
        let works = || {
            let munge = cluster.command("munge").args(["-n", &socket]).output();
            munge.is_ok_and(|o| o.status.success()).then_some(())
        };
        until("munged", START, works).map_err(|e| cluster.told(&e))?;
        cluster.daemon("slurmctld", &["-D".into(), "-i".into()]);
        cluster.daemon("slurmd", &["-D".into()]);
        let idle = || {
            let state = cluster.command("sinfo").args(["-h", "-o", "%T"]).output();
            state.is_ok_and(|o| text(&o.stdout).trim() == "idle").then_some(())
        };
        until("an idle node", START, idle).map_err(|e| cluster.told(&e))?;
        Ok(cluster)
    }

    fn daemon(&mut self, name: &str, arguments: &[String]) {
        let log = fs::File::create(self.folder.join(format!("log/{name}.out"))).expect("a log");
        let mut command = self.command(name);
        command.args(arguments).stdin(Stdio::null()).stderr(log.try_clone().expect("a log")).stdout(log);
        self.daemons.push(command.spawn().unwrap_or_else(|e| panic!("{name}: {e}")));
    }

    /// A program that this cluster is the cluster of.
    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(tool(name).unwrap_or_else(|| name.into()));
        command.env("SLURM_CONF", self.folder.join("slurm.conf"));
        for (key, _) in std::env::vars_os() {
            let name = key.to_string_lossy();
            // (tests may themselves run in a job)
            if name != "SLURM_CONF" && (name.starts_with("SLURM") || name.starts_with("SBATCH")) {
                command.env_remove(key);
            }
        }
        command
    }

    /// A sentence, with the ends of what the daemons said.
    fn told(&self, what: &str) -> String {
        let mut out = format!("{what}\n");
        for entry in fs::read_dir(self.folder.join("log")).expect("logs").flatten() {
            let log = fs::read_to_string(entry.path()).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            out += &format!("== {}\n", entry.path().display());
            out += &lines[lines.len().saturating_sub(20)..].join("\n");
            out.push('\n');
        }
        out
    }

    /// Waits until no job is left.
    fn finish(&self) {
        let empty = || {
            let queue = self.command("squeue").args(["-h", "-o", "%i %T %r"]).output().expect("it starts");
            (queue.status.success() && queue.stdout.is_empty()).then_some(())
        };
        if let Err(e) = until("all jobs", PATIENCE, empty) {
            let queue = text(&self.command("squeue").output().expect("it starts").stdout);
            panic!("{}", self.told(&format!("{e}\n{queue}")));
        }
    }

    /// A field of what is known of a job.
    fn job(&self, job: &str, field: &str) -> String {
        let all = said(self.command("scontrol").args(["show", "job", "-o", job]), Some(0));
        let value = all.split_whitespace().find_map(|w| w.strip_prefix(field)?.strip_prefix('='));
        value.unwrap_or_else(|| panic!("no {field}: {all}")).to_owned()
    }

    /// Processes of this cluster: daemons, and jobs with what they started.
    fn left(&self) -> Vec<String> {
        let ours = format!("SLURM_CONF={}", self.folder.join("slurm.conf").display()).into_bytes();
        let mut all = vec![];
        for entry in fs::read_dir("/proc").expect("processes").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.bytes().all(|b| b.is_ascii_digit())
                && fs::read(entry.path().join("environ"))
                    .is_ok_and(|e| e.split(|b| *b == 0).any(|v| v == ours))
            {
                all.push(name);
            }
        }
        all
    }

    /// Ends every process of it, first kindly: jobs, then daemons; those that are left.
    fn stop(&mut self) -> Vec<String> {
        if !self.daemons.is_empty() {
            let user = said(Command::new("id").arg("-un"), None);
            let _ = self.command("scancel").args(["--full", "--user", user.trim()]).output();
        }
        for mut daemon in std::mem::take(&mut self.daemons).into_iter().rev() {
            let _ = Command::new("kill").args(["-TERM", &daemon.id().to_string()]).output();
            let began = Instant::now();
            while matches!(daemon.try_wait(), Ok(None)) && began.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(10) {
            let left = self.left();
            if left.is_empty() {
                return left;
            }
            if began.elapsed() > Duration::from_secs(2) {
                let _ = Command::new("kill").arg("-KILL").args(&left).output();
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        self.left()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The blocks of docs/engines.md: the one that submits eight shards, here three; and the one that submits the third again, here the
/// second.
fn submissions() -> [String; 2] {
    let page = book().into_iter().find(|p| p.path == "docs/engines.md").expect("the page");
    let slurm = page.blocks.iter().filter(|b| b.not_run() == Some("needs-slurm")).map(|b| b.lines.join("\n"));
    let [submit, again] = &slurm.collect::<Vec<_>>()[..] else { panic!("two blocks") };
    assert!(
        submit.contains("--array=1-8") && again.contains("SHARDS=8 ") && again.contains("--array=3 "),
        "{submit}\n{again}"
    );
    [
        submit.replace("--array=1-8", "--array=1-3"),
        again.replace("SHARDS=8 ", "SHARDS=3 ").replace("--array=3 ", "--array=2 --gres=gpu:1 "),
    ]
}

#[test]
fn a_job_array_measures_a_suite() {
    let test = "a suite on Slurm";
    if !device(test) || !slurm(test) {
        return;
    }
    let scratch = Scratch::new("slurm");
    let folder = scratch.path("work");
    // (two processes: a verdict is none of this test's, and with two nothing can be significant)
    suite(&folder, 2, PLAIN);
    for name in ["slurm.sbatch", "slurm-verdict.sbatch"] {
        fs::write(folder.join(name), engine(name)).expect("it is written");
    }
    let whole = unsharded(&folder);
    let baseline = folder.join("baseline.tar.gz");
    let merge = ["suite", "merge", words(&whole), "-o", words(&baseline)];
    assert!(run(merge).status.success());

    let mut cluster = Cluster::start(&scratch.path("cluster")).unwrap_or_else(|e| panic!("{e}"));
    let bash = |script: &str| -> Command {
        let mut command = cluster.command("bash");
        command
            .args(["-euo", "pipefail", "-c", script])
            .current_dir(&folder)
            .env("PATH", path(&scratch.path("")));
        command
    };
    let [submit, again] = submissions();
    let told = said(&mut bash(&submit), Some(0));
    let verdict = told.trim().rsplit(' ').next().expect("a number").to_owned();
    let made: Vec<PathBuf> =
        fs::read_dir(folder.join("results")).expect("results").map(|e| e.expect("an entry").path()).collect();
    let [results] = &made[..] else { panic!("one folder of results: {made:?}") };

    // A task that is interrupted between two units is requeued, and goes on.
    let array = cluster.job(&verdict, "Dependency");
    let array = array.trim_start_matches("afterany:").split(['_', '(']).next().expect("a job").to_owned();
    let first = results.join("shard-1-of-3");
    let between = || {
        let note: Value = serde_json::from_slice(&fs::read(first.join("suite.json")).ok()?).ok()?;
        let of = |state: &str| {
            note["units"].as_array().expect("units").iter().filter(|u| u["state"] == state).count()
        };
        (of("done") > 0).then(|| of("waiting"))
    };
    assert_eq!(
        until("the first unit", PATIENCE, between).unwrap_or_else(|e| panic!("{}", cluster.told(&e))),
        1
    );
    said(cluster.command("scontrol").args(["requeue", &format!("{array}_1")]), Some(0));
    cluster.finish();
    let log = |name: &str| fs::read_to_string(results.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(log("1.log").contains("shard 1/3 on ") && log("1.log").contains("start 2"), "{}", log("1.log"));
    assert!(log("2.log").contains("start 1") && !log("2.log").contains("start 2"), "{}", log("2.log"));
    let code = cluster.job(&verdict, "ExitCode");
    assert!(code == "0:0" || code == "4:0", "{code}: {}", log("verdict.log"));
    assert!(
        log("verdict.md").contains("vm")
            && log("verdict.json").starts_with('[')
            && log("verdict.xml").contains("<testsuite")
    );
    let merged = same_units(&results.join("merged.tar.gz"), &whole);
    // Shard 1 had two units, each measured by another start; the others have a start each.
    let parts: std::collections::BTreeSet<u64> = merged.parts.iter().copied().collect();
    assert_eq!(parts.len(), 4, "{:?}", merged.parts);

    // A shard that is not there is named; submitted again by itself, with a GPU as the file has it, it completes the result.
    fs::remove_dir_all(results.join("shard-2-of-3")).expect("it is there");
    let set = format!("results={}\n", results.strip_prefix(&folder).expect("below it").display());
    let alone = again.lines().last().expect("the verdict alone");
    said(&mut bash(&format!("{set}{alone}")), Some(1));
    let named = log("verdict.log");
    let missing = named.lines().last().expect("it says what is missing");
    assert!(missing.contains("mesh") && !missing.contains("nested"), "{named}");
    let (out, all) = ended(&mut bash(&format!("{set}{again}")));
    assert!(matches!(out.status.code(), Some(0 | 4)), "{all}{}", log("verdict.log"));
    same_units(&results.join("merged.tar.gz"), &whole);
    // Without saying of how many, a part of an array is refused.
    let part = "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=1 \
                bash slurm.sbatch suite.toml results/none";
    assert!(said(&mut bash(part), Some(2)).contains("SHARDS=8"));
    assert!(said(&mut bash("bash slurm.sbatch suite.toml results/none"), Some(2)).contains("as an array"));
    assert!(!folder.join("results/none").exists());

    assert_eq!(cluster.stop(), Vec::<String>::new(), "processes are left");
}

fn words(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}
