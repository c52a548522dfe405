/** Connections to an app as the kernel counts them: its old version drains until there are none. */
import { socketsOf, tableOf } from './listeners.ts';

/** States of /proc/net/tcp: established, and half-open on the way in. Not CLOSE_WAIT: some apps keep those. */
const TCP_OPEN = new Set(['01', '03']);
/** States of /proc/net/unix: connecting and connected. */
const UNIX_OPEN = new Set(['02', '03']);

/** Connections to what listens at PORT: the path of a socket, or a port. */
export function connectionsTo(address: string): number {
  if (address.startsWith('/')) return unixConnections(address);
  const port = Number(address);
  return socketsOf('tcp').filter((each) => each.port === port && TCP_OPEN.has(each.state)).length;
}

/** An accepted connection has the path of its listener. */
function unixConnections(path: string): number {
  const rows = tableOf('unix').map((row) => row.trim().split(/\s+/));
  return rows.filter((fields) => {
    const [, , , , , state = ''] = fields;
    return UNIX_OPEN.has(state) && fields.slice(7).join(' ') === path;
  }).length;
}
