import { accessSync, constants } from 'node:fs';
import { command } from '@runner/common/cli/command';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure, invalidValue, usage } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { Live } from '../live.ts';
import { type ListenPlace, serve } from '../server.ts';

export const dashboard = command({
  about: 'Show apps and deploys on a page that cannot write',
  details:
    'Answers GET and HEAD alone, and needs a user who can read neither keys, tokens nor secrets: a member\n' +
    'of the group runner-view. Without --listen it serves the socket that systemd hands over\n' +
    '(runner-dashboard.socket). It has no login of its own: put a proxy with one in front of it.',
  options: {
    listen: {
      placeholder: 'ADDRESS',
      about: 'A loopback address such as 127.0.0.1:9191, or unix:/path of a socket',
    },
  },
  examples: ['runner dashboard --listen 127.0.0.1:9191'],
  needsRoot: true,
  async run({ io, paths, options, note }) {
    const place = options.listen === undefined ? inherited(io) : placeOf(options.listen);
    refuseReader(paths);
    const stop = new AbortController();
    io.onSignal(() => stop.abort());
    await serve(new Live({ io, paths }), place, { signal: stop.signal, note });
    return {};
  },
});

/** The descriptor that systemd hands over. */
function inherited({ env, pid }: Io): ListenPlace {
  if (env.LISTEN_FDS === '1' && env.LISTEN_PID === String(pid)) return { fd: 3 };
  throw usage(
    'systemd starts this with a socket (runner-dashboard.socket); elsewhere give --listen <ADDRESS>',
  );
}

/** `127.0.0.1`, and the others that no other machine reaches. */
const LOOPBACK = /^(127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|\[::1\]|localhost):(\d{1,5})$/;

function placeOf(text: string): ListenPlace {
  if (text.startsWith('unix:/')) return { path: text.slice('unix:'.length) };
  const [, host = '', port = ''] = LOOPBACK.exec(text) ?? [];
  if (host === '' || Number(port) > 65_535)
    throw invalidValue(
      text,
      '--listen <ADDRESS>',
      'give a loopback address such as 127.0.0.1:9191, or unix:/path; a proxy with a login serves others',
    );
  return { host: host.replace(/[[\]]/g, ''), port: Number(port) };
}

/** Throws `guard_tripped` if this user could read what a page must never show. */
function refuseReader(paths: Paths): void {
  const { mkey, statementKey, config, stateDir, secretsDir, notifySpool } = paths;
  const closed = [mkey, statementKey, config, stateDir, secretsDir, notifySpool];
  const open = closed.find((path) =>
    orElse(() => accessSync(path, constants.R_OK) === undefined, false),
  );
  if (open === undefined) return;
  throw new Failure(
    'guard_tripped',
    `this user can read ${open}: run the dashboard as a user who only is a member of the group runner-view`,
  );
}
