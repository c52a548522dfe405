/**
 * What a commit may try in order to read or do what it must not: a shell command each. What it prints is kept;
 * the story looks for planted secrets in that, and for traces on the server.
 */

const KEY = '"$ROOT"/mkey';
/** A Node script. */
const node = (script: string) => `node -e '${script}'`;
/** Runs a command outside of the sandbox if that is possible, which then shows the key. */
const SHOW = `sh -c "cat $ROOT/mkey > $W/out; cat $ROOT/state/*.json >> $W/out"`;
const outside = (start: string) => `${start} ${SHOW}; sleep 0.3; cat $W/out`;
const connect = (path: string, words = 'x') =>
  node(
    `const s = require("net").connect("${path}").on("error", () => process.exit(1)).on("data", (d) => console.log(String(d))); s.write("${words}\\0"); setTimeout(() => process.exit(0), 400)`,
  );
const eachProcess = (command: string) => `for p in /proc/[0-9]*; do ${command}; done`;

export const ESCAPES: Readonly<Record<string, string>> = {
  // Buses, managers and services.
  'loginctl enable-linger': 'loginctl enable-linger $(id -u)',
  'linger by busctl':
    'busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager SetUserLinger ubb $(id -u) true false',
  'linger over /proc/1/root':
    'DBUS_SYSTEM_BUS_ADDRESS=unix:path=/proc/1/root/run/dbus/system_bus_socket loginctl enable-linger $(id -u)',
  'the bus by its other name':
    'DBUS_SYSTEM_BUS_ADDRESS=unix:path=/var/run/dbus/system_bus_socket loginctl enable-linger $(id -u)',
  'systemd-run --user': outside(
    'XDG_RUNTIME_DIR=/run/user/$(id -u) systemd-run --user --wait -q --collect',
  ),
  'systemd-run --system': outside('systemd-run --wait -q --collect'),
  'the private socket of systemd': connect('/run/systemd/private'),
  "the private socket of the user's manager":
    'XDG_RUNTIME_DIR=/run/user/$(id -u) systemctl --user show-environment && echo REACHED-user-manager',
  "stop another app's unit": 'systemctl stop other.service',
  'restart it over dbus-send':
    'dbus-send --system --print-reply --dest=org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager.StopUnit string:other.service string:replace',
  'machinectl shell': outside('machinectl shell .host /bin/sh -c'),
  hostnamectl: 'hostnamectl set-hostname reached-by-a-commit',
  timedatectl: 'timedatectl set-timezone Asia/Tokyo && echo REACHED-timezone',
  localectl: 'localectl set-locale LANG=C && echo REACHED-locale',
  pkexec: `pkexec cat ${KEY}`,
  'an agent of polkit':
    'busctl call org.freedesktop.PolicyKit1 /org/freedesktop/PolicyKit1/Authority org.freedesktop.PolicyKit1.Authority RegisterAuthenticationAgent "(sa{sv})ss" unix-session 1 session-id s c1 C /agent && echo REACHED-agent',
  'a portal': outside(
    'busctl --user call org.freedesktop.portal.Desktop /org/freedesktop/portal/desktop org.freedesktop.DBus.Peer Ping;',
  ),
  'varlink: the user database': connect(
    '/run/systemd/userdb/io.systemd.DynamicUser',
    '{\\"method\\":\\"io.systemd.UserDatabase.GetUserRecord\\",\\"parameters\\":{\\"service\\":\\"io.systemd.DynamicUser\\"}}',
  ),
  'varlink: the journal': connect(
    '/run/systemd/journal/io.systemd.journal',
    '{\\"method\\":\\"io.systemd.Journal.FlushToVar\\"}',
  ),
  'the journal': 'journalctl --no-pager -o cat -n 2000',
  'its files': 'cat /var/log/journal/*/*.journal /run/log/journal/*/*.journal | strings -n 8',
  'its files over /proc': eachProcess('cat $p/root/var/log/journal/*/*.journal | strings -n 8'),
  syslog: 'cat /var/log/syslog /var/log/auth.log /var/log/messages',
  'an entry in the journal': 'echo forged-by-a-commit | systemd-cat',
  'the notify socket': connect('/run/systemd/notify', 'READY=1'),
  'abstract sockets': node(
    'for (const line of require("fs").readFileSync("/proc/net/unix", "utf8").split("\\n")) { const m = / @(\\S+)$/.exec(line); if (m) require("net").connect("\\0" + m[1]).on("error", () => {}).on("data", (d) => console.log(String(d))).write("ls\\n"); } setTimeout(() => process.exit(0), 500)',
  ),
  docker: 'docker -H unix:///run/docker.sock ps && echo REACHED-docker',
  lxd: connect('/var/lib/lxd/unix.socket', 'GET / HTTP/1.0\\r\\n\\r\\n'),
  vsock: `python3 -c 'import socket; s = socket.socket(40, 1); s.settimeout(1); s.connect((2, 1)); print("REACHED-vsock")'`,

  // Processes.
  "a process's root": eachProcess('cat $p/root$ROOT/mkey'),
  "a process's folder": eachProcess('cat $p/cwd/mkey $p/cwd/../../mkey'),
  "a process's descriptors": eachProcess(
    'for f in $p/fd/*; do test -f $f && head -c 4096 $f; done',
  ),
  "a process's environment": eachProcess("tr '\\0' '\\n' < $p/environ"),
  "a process's memory": eachProcess('dd if=$p/mem bs=1 count=1 && echo REACHED-$p | grep -v self'),
  // PTRACE_SEIZE, which does not stop what it is tried on.
  ptrace: `python3 -c 'import ctypes, os
c = ctypes.CDLL(None)
for p in os.listdir("/proc"):
  if p.isdigit() and b"bin/runner-" in open(f"/proc/{p}/cmdline", "rb").read().split(b"sh\\0-c")[0] and c.ptrace(0x4206, int(p), 0, 0) == 0: print("REACHED-ptrace", p)'`,
  process_vm_readv: eachProcess(
    'grep -qa "^node.*bin/[r]unner-" $p/cmdline && head -n 1 $p/maps | grep -q . && echo REACHED-maps',
  ),
  'signal the runner': 'pkill -CONT -f "bin/[r]unner-" && echo REACHED-signal',
  "kill another app's process": 'pkill -f "[o]ther-service-process"; true',
  'inherited descriptors': 'for f in $(seq 3 300); do (head -c 200 <&$f) 2>/dev/null; done',
  'a terminal':
    'for t in /dev/pts/[0-9]* /dev/tty /dev/console; do test -r $t && head -c 1 $t </dev/null && echo REACHED-$t; done',
  'the program of runner':
    'for e in /proc/[0-9]*/exe; do case $(readlink $e) in *bwrap*) echo x >> $e && echo REACHED-exe;; esac; done',

  // Mounts and namespaces.
  unmount: `umount -l "$ROOT"; cat ${KEY}`,
  'unmount in a namespace': `unshare -rm sh -c 'umount -l "$ROOT"; cat ${KEY}'`,
  'a namespace within namespaces': `unshare -rmpf --mount-proc sh -c 'unshare -rm umount -R "$ROOT"; cat ${KEY}'`,
  remount: `unshare -rm sh -c 'mount -o remount,rw,bind /; mount -o remount,rw,bind "$ROOT"; ls "$ROOT"/state'`,
  'bind the root elsewhere': `unshare -rm sh -c 'mkdir -p /tmp/m; mount --bind / /tmp/m; cat /tmp/m$ROOT/mkey'`,
  'bind it without its mounts': `unshare -rm sh -c 'mkdir -p /tmp/m2; mount --make-rprivate /; mount --bind / /tmp/m2; cat /tmp/m2$ROOT/mkey'`,
  'enter the first process': `nsenter -t 1 -a cat ${KEY}`,
  'enter every process': eachProcess(`timeout 1 nsenter -t \${p#/proc/} -m -U cat ${KEY}`),
  'an overlay': `unshare -rm sh -c 'mkdir -p /tmp/u /tmp/w /tmp/o; mount -t overlay o -o lowerdir=/,upperdir=/tmp/u,workdir=/tmp/w /tmp/o; cat /tmp/o$ROOT/mkey'`,
  chroot: `unshare -r chroot /proc/1/root cat ${KEY}`,
  'open by handle': `python3 -c 'import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
class H(ctypes.Structure): _fields_ = [("n", ctypes.c_uint), ("t", ctypes.c_int), ("f", ctypes.c_ubyte * 128)]
fd = os.open("/", 0)
for ino in range(2, 5000):
  h = H(8, 1); h.f[0:4] = ino.to_bytes(4, "little")
  r = c.open_by_handle_at(fd, ctypes.byref(h), 0)
  if r >= 0: print("REACHED-handle", os.readlink(f"/proc/self/fd/{r}")); break'`,
  'a link to the key': `ln -sf ${KEY} soft; cat soft; ln ${KEY} hard; cat hard`,
  'the key over /proc/self/root': `cat /proc/self/root$ROOT/mkey /proc/self/cwd/../../../../mkey`,
  'watch the root': `python3 -c 'import ctypes, os
c = ctypes.CDLL(None)
f = c.inotify_init()
print("REACHED-inotify" if c.inotify_add_watch(f, (os.environ["ROOT"] + "/state/other.json").encode(), 4095) > 0 else "no")'`,
  fanotify: `python3 -c 'import ctypes
c = ctypes.CDLL(None)
print("REACHED-fanotify" if c.fanotify_init(0, 0) >= 0 and c.fanotify_mark(3, 1 | 16, 2, -100, b"/") == 0 else "no")'`,
  io_uring: `python3 -c 'import ctypes, os
c = ctypes.CDLL(None)
p = (ctypes.c_uint * 30)()
f = c.syscall(425, 8, p)
print("uring", f >= 0)
'; cat ${KEY}`,

  // What stays.
  crontab: `echo "* * * * * cat ${KEY} > /var/tmp/cron-loot" | crontab - && echo REACHED-crontab`,
  at: `echo "cat ${KEY}" | at now && echo REACHED-at`,
  'a folder of cron': `for d in /etc/cron.d /etc/cron.hourly /var/spool/cron /var/spool/cron/crontabs; do echo x > $d/from-a-commit && echo REACHED-$d; done`,
  mail: `echo x | sendmail root && echo REACHED-mail; cat /var/mail/* /var/spool/mail/*`,
  units:
    'for d in /etc/systemd/system /run/systemd/system /etc/systemd/user /run/systemd/generator /usr/lib/systemd/system; do echo x > $d/from-a-commit.service; done; ls /etc/systemd/system/from-a-commit.service',
  "the user's units":
    'mkdir -p $ACCOUNT/.config/systemd/user && echo x > $ACCOUNT/.config/systemd/user/from-a-commit.service',
  "the user's profile":
    'for f in .bashrc .profile .npmrc .gitconfig .forward .ssh/rc; do echo from-a-commit >> $ACCOUNT/$f; done; cat $ACCOUNT/.netrc',
  'the list of units': 'echo from-a-commit >> /etc/runner/units && echo REACHED-units',
  'ld.so.preload': 'echo x > /etc/ld.so.preload && echo REACHED-preload',
  'core dumps': '(: >> /proc/sys/kernel/core_pattern) && echo REACHED-core',
  'the helper of the kernel':
    'for f in /sys/kernel/uevent_helper /proc/sys/kernel/modprobe /proc/sys/kernel/hotplug; do (: >> $f) && echo REACHED-$f; done',
  'formats of programs': '(: >> /proc/sys/fs/binfmt_misc/register) && echo REACHED-binfmt',
  sysrq: '(: >> /proc/sysrq-trigger) && echo REACHED-sysrq',
  'control groups':
    'for f in $(find /sys/fs/cgroup -maxdepth 4 \\( -name cgroup.kill -o -name cgroup.freeze -o -name release_agent -o -name cgroup.procs \\) 2>/dev/null | head -50); do (: >> $f) 2>/dev/null && echo REACHED-$f; done',
  'names of users':
    'for f in /etc/passwd /etc/nsswitch.conf /etc/hosts /etc/pam.d/su; do : >> $f && echo REACHED-$f; done',
  'kernel modules': 'modprobe dummy && echo REACHED-module',
  'the log of the kernel':
    'dmesg | head -n 3 | grep -q . && echo REACHED-dmesg; test -c /dev/kmsg && echo x > /dev/kmsg && echo REACHED-kmsg',
  'the memory of the machine': 'head -c 1 /dev/mem /dev/port && echo REACHED-mem',
  'keys of the kernel': 'keyctl show @u && echo REACHED-keyring',
  'sudo and su': `sudo -n cat ${KEY}; su -c "cat ${KEY}" </dev/null`,

  // Files of runner, of other apps and of other services.
  'the key': `cat ${KEY}; cp ${KEY} key-copy && cat key-copy`,
  'config.yml and states': 'cat "$ROOT"/config.yml "$ROOT"/state/*.json "$ROOT"/secrets/*.json',
  'records and messages':
    'cat "$ROOT"/logs/*.jsonl "$ROOT"/spool/notify/*; echo x >> "$ROOT"/logs/deploy-events.jsonl && echo REACHED-log',
  'a lock': 'flock -n "$ROOT"/locks/registry.lock true && echo REACHED-lock',
  'another app':
    'cat "$ROOT"/apps/other/*/* "$ROOT"/apps/other/releases/*/* "$ROOT"/apps/other/instances/*/shared/* "$ROOT"/apps/other/home/.npmrc',
  'the mirror': 'echo x >> "$ROOT"/apps/evil/repo.git/config && echo REACHED-mirror',
  'the bell':
    'cat /var/lib/runner-bell/secrets/*; echo x > /var/lib/runner-bell/wake/evil && echo REACHED-wake',
  'secrets of apps in memory': 'cat /run/runner/*/*/*.env',
  'a link for systemd in memory':
    'for f in /run/runner/*/evil; do ln -sfn /etc/other-service.env $f/default.env && echo REACHED-$f; echo LD_PRELOAD=x > $f/default.env && echo REACHED-$f; done',
  'a link for systemd in a slot':
    'for s in a b; do ln -sfn /etc/other-service.env "$ROOT"/apps/evil/instances/default/$s/env && echo REACHED-slot; done',
  credentials: 'cat /run/credentials/*/* "$CREDENTIALS_DIRECTORY"/*',
  'agents and terminals':
    'for s in /tmp/tmux-*/default /tmp/ssh-*/agent* /run/screen/*/*; do test -S $s && echo REACHED-$s; done',
  "a neighbour's memory": 'ls /dev/shm | grep appdata && cat /dev/shm/appdata',
};

/** `escapes.sh PHASE`: tries all, and keeps what each printed, backwards: it must not be redacted. */
export function escapeScript(): string {
  const cases = Object.entries(ESCAPES).map(
    // Otherwise a list of processes would show the word as well.
    ([name, script]) => `try ${quote(name)} ${quote(script.replaceAll('REACHED', 'REACH""ED'))}`,
  );
  // Not through a pipe: what an attempt leaves running would hold it open.
  return `export ROOT ACCOUNT W=$RUNNER_SHARED/$1; mkdir -p "$W"; cd "$W" || exit 0
try() {
  printf '\\n== %s\\n' "$1"
  timeout -s KILL 3 sh -c "$2" >said 2>/dev/null </dev/null
  head -c 300000 said | tr -d '\\0' | rev
}
{
${cases.join('\n')}
} > "$W/loot" 2>/dev/null
: > "$W/done"
`;
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
