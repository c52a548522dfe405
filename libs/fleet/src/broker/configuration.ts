/** The complete configuration of nats-server: one account per server, limited to its own subjects. */
import type { FleetServer } from '../files/operator.ts';
import { accountOf, exportsTo, importsOf, MESSAGE_MAX, subjects } from './subjects.ts';

/** The operator's account, and that of nats-server itself. */
export const FLEET = 'FLEET';
export const SYSTEM = '$SYS';

export interface BrokerSetup {
  readonly url: string;
  /** The operator's public login key. */
  readonly operator: string;
  /** The public key with which `broker check` reads what the accounts can do. */
  readonly monitor: string;
  readonly servers: readonly FleetServer[];
  readonly store: string;
}

const lines = (indent: string, all: readonly string[]) =>
  all.map((line) => `${indent}${line}\n`).join('');

export function brokerConfiguration({
  url,
  operator,
  monitor,
  servers,
  store,
}: BrokerSetup): string {
  const [scheme, host = ''] = url.split('://');
  const isTls = scheme === 'tls';
  const listen = isTls ? `0.0.0.0:${host.split(':').at(-1)}` : host;
  return `# nats-server of the fleet, printed by: runner fleet broker config
# Print it again after runner fleet add and remove, then: systemctl restart nats-server
server_name: runner-fleet
listen: "${listen}"
max_payload: ${MESSAGE_MAX}
jetstream { store_dir: "${store}" }
${isTls ? 'tls {\n  cert_file: "/etc/nats/cert.pem"\n  key_file: "/etc/nats/key.pem"\n}\n' : ''}accounts {
  "${SYSTEM}" {
    users: [ { nkey: ${monitor}, permissions: { publish: ${MONITORED}, subscribe: "_INBOX.>" } } ]
  }
  ${FLEET} {
    jetstream: enabled
    users: [ { nkey: ${operator} } ]
    exports: [
${lines('      ', exportLines(servers))}    ]
    imports: [
${lines(
  '      ',
  servers.map(
    ({ server }) =>
      `{ service: { account: "${accountOf(server)}", subject: "${subjects.ping(server)}" } }`,
  ),
)}    ]
  }
${servers.map(accountText).join('')}}
`;
}

/** What the key of `broker check` may ask. */
const MONITORED = '[ "$SYS.REQ.SERVER.PING.CONNZ", "$SYS.REQ.ACCOUNT.*.INFO" ]';

function exportLines(all: readonly FleetServer[]): string[] {
  return exportsTo(all.map(({ server }) => server)).map(({ subject, stream, servers }) => {
    const answers = stream ? ', response_type: stream' : '';
    const accounts = servers.map((server) => `"${accountOf(server)}"`).join(', ');
    return `{ service: "${subject}", accounts: [${accounts}]${answers} }`;
  });
}

function accountText({ server, nkey }: FleetServer): string {
  const imports = importsOf(server).map(({ subject, to }) => {
    const renamed = to === undefined ? '' : `, to: "${to}"`;
    return `{ service: { account: "${FLEET}", subject: "${subject}" }${renamed} }`;
  });
  return `  "${accountOf(server)}" {
    users: [ { nkey: ${nkey} } ]
    exports: [ { service: "${subjects.ping(server)}", accounts: ["${FLEET}"] } ]
    imports: [
${lines('      ', imports)}    ]
  }
`;
}
